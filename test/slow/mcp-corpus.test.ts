import type { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, it } from 'vitest';
import { corpusFolder, unpackCorpus } from '../helpers/corpus.ts';
import { httpClient, serveRegistry, stdioClient } from '../helpers/mcp.ts';

/** Follows every page, then reads every file: the client refuses what has another digest, size or frontmatter. */
async function readEverything(client: Client): Promise<readonly string[]> {
  const skills = new SkillsClient(client);
  const { skills: entries, invalid } = await skills.list();
  expect(invalid).toEqual([]);
  for (const entry of entries) {
    const files = entry.resources === 'dynamic' ? [] : entry.resources;
    for (const { uri } of files) expect((await skills.read(entry, uri)).verified).toBe(true);
  }
  return entries.map(({ uri }) => uri);
}

it.skipIf(!corpusFolder)(
  'every one of 1,810 skills found in the wild is published, page by page, or named with a reason (skipped without SKILL_CORPUS)',
  async () => {
    const corpus = unpackCorpus(corpusFolder ?? '');
    const { serving, door, registry } = await serveRegistry(
      {},
      { config: { sources: [{ path: corpus, id: 'wild' }] } },
    );
    // What is held is in no list, from the first page on.
    await registry.admin.inspectSkills();
    const client = await httpClient(serving.url);
    const skills = new SkillsClient(client);
    const pages: number[] = [];
    // Before the first id, so that each answer is one page and not a walk of the client's.
    let cursor: string | undefined = Buffer.from('after:').toString('base64url');
    while (cursor !== undefined) {
      const page = await skills.list({ cursor });
      pages.push(page.skills.length);
      cursor = page.nextCursor;
    }
    expect(pages.length).toBeGreaterThan(9);
    expect(pages.slice(0, -1).every((length) => length === 100)).toBe(true);

    const listed = await readEverything(client);
    expect(new Set(listed).size).toBe(listed.length);
    expect(pages.reduce((sum, length) => sum + length)).toBe(listed.length);
    const kept = await door.problems();
    expect(listed.length + kept.length).toBe(registry.visible({}).length);
    expect(kept.every(({ message }) => message.length < 2000)).toBe(true);
    expect((await client.listPrompts()).prompts).toHaveLength(
      registry.visible({}, 'person').filter(({ userInvocable }) => userInvocable).length,
    );

    // The other transport and the other era, with the same result.
    const { client: older } = await stdioClient(['--skills', corpus], 'legacy');
    expect(await readEverything(older)).toEqual(listed);
  },
);
