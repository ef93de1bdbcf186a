import { ProtocolError } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { createSdkSource, resourcesPage } from '../../extensions/skill_mcp/sdk-source.ts';

it('sends a client no path of this machine when something fails', async () => {
  const fail = async (): Promise<never> => {
    throw new Error("EIO: i/o error, open '/srv/secret place/skills/tea/SKILL.md'");
  };
  const failing = async function* (): AsyncGenerator<never> {
    yield await fail();
  };
  const publication = { after: failing, find: fail, read: fail, problems: fail, shows: () => true };
  const source = createSdkSource(
    publication,
    10,
    () => ({}),
    () => {},
  );
  const asked = [
    () => source.get('skill://tea/SKILL.md', {} as never),
    () => source.read('skill://tea/SKILL.md', {} as never),
    () => source.readDirectory?.('skill://tea', {}, {} as never),
    () => source.list({}, {} as never),
    () => resourcesPage(publication, {}, undefined, 10, () => {}),
  ];
  for (const ask of asked) {
    const error = (await Promise.resolve(ask()).catch((caught) => caught)) as ProtocolError;
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error.message).not.toContain('/srv');
  }
});
