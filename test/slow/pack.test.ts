import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../kernel/host.ts';
import { pack } from '../helpers/packed.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const manifestIn = (tarball: string) =>
  JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }));

it('packs no script and no dependency that has one, and leaves the working tree as it is', () => {
  const look = () =>
    readdirSync(packageRoot()).map((name) => [name, statSync(join(packageRoot(), name)).mtimeMs].join(' '));
  const before = look();
  const { tarball } = pack(tempFolder({}));
  expect(look()).toEqual(before);
  const { scripts, devDependencies, optionalDependencies, dependencies, ...manifest } = manifestIn(tarball);
  expect([scripts, devDependencies, optionalDependencies, manifest.private]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(manifest.peerDependenciesMeta['better-sqlite3']).toEqual({ optional: true });
  const { packages } = JSON.parse(readFileSync(join(packageRoot(), 'package-lock.json'), 'utf8'));
  const reached = new Set<string>(Object.keys(dependencies));
  for (const name of reached)
    for (const next of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {})) reached.add(next);
  expect([...reached].filter((name) => packages[`node_modules/${name}`]?.hasInstallScript)).toEqual([]);
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  for (const name of ['README.md', 'LICENSE', 'dist/cli/main.js', 'skills/code-review/SKILL.md', 'docs/library.md'])
    expect(files).toContain(`package/${name}\n`);
  expect(files).not.toMatch(/docs\/images|\.ts\.map|^package\/(?:test|scripts|node_modules)/m);
});

it('packs a release only for an owner, and under its own version', () => {
  const project = (more: object) =>
    tempFolder({
      'package.json': JSON.stringify({
        ...{ name: 'tea', version: '1.2.3', private: true, files: ['dist'], scripts: { prepare: 'false' } },
        ...{ optionalDependencies: {}, peerDependencies: {}, peerDependenciesMeta: {}, ...more },
      }),
      ...{ 'README.md': 'Tea.', LICENSE: 'MIT', 'dist/tea.js': '' },
    });
  const owned = project({ repository: 'github:someone/tea' });
  const to = tempFolder({});
  expect(pack(to, project({}), 'v1.2.3')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no repository'),
  });
  expect(pack(to, owned, 'v1.2.4')).toMatchObject({ status: 1, stderr: expect.stringContaining('not v1.2.3') });
  expect(readdirSync(to)).toEqual([]);
  const { status, tarball } = pack(to, owned, 'v1.2.3');
  expect(status).toBe(0);
  expect(manifestIn(tarball)).toMatchObject({ name: 'tea', repository: 'github:someone/tea' });
});

it('the workflow publishes what was packed for the tag, after tests, with provenance and an owner’s yes', () => {
  const text = readFileSync(join(packageRoot(), '.github/workflows/release.yml'), 'utf8');
  const { on, permissions, jobs } = parse(text);
  expect(on).toEqual({ push: { tags: ['v*'] } });
  expect(permissions).toEqual({ contents: 'read' });
  const run = (job: { steps: { run?: string }[] }) => job.steps.flatMap((step) => step.run ?? []).join('\n');
  expect(run(jobs.pack)).toMatch(
    /npm ci\n[\s\S]*npm run check\nnpm run test:slow\n[\s\S]*npm run pack -- \. "\$GITHUB_REF_NAME"$/,
  );
  expect(jobs.publish).toMatchObject({ needs: 'pack', environment: 'npm', permissions: { 'id-token': 'write' } });
  expect(run(jobs.publish)).toContain('npm publish ./skill-registry-*.tgz --provenance');
  // By commit: a tag of somebody else can be moved.
  expect([...text.matchAll(/uses: (\S+)/g)].filter(([, action = '']) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
});
