import { describe, expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';

const TREE = {
  ...skill('tea', {}, 'Steep it.'),
  'skills/tea/references/times.md': 'Green: 2 minutes.',
  'skills/tea/references/deep/more.md': 'More.',
  'skills/tea/scripts/boil.sh': '#!/bin/sh',
  'skills/tea/secret.md': 'Neither of both.',
  'skills/tea/references/out.md': { link: '../secret.md' },
  ...skill('bare'),
  ...skill('quiet', { 'disable-model-invocation': 'true' }),
};
const KEYS = [
  'available_references',
  'available_scripts',
  'body',
  'error',
  'name',
  'reference_content',
  'script_content',
  'success',
];

async function load(args: unknown, turn = {}) {
  const { registry } = await openRegistry(TREE, { tools: ['load_skill'] });
  return runRegistryTool(registry, 'load_skill', args, turn);
}

describe('load_skill', () => {
  it('is only there when the owner asks for it', async () => {
    const { registry } = await openRegistry(TREE);
    expect(registry.tools().map(({ name }) => name)).not.toContain('load_skill');
    expect((await openRegistry(TREE, { tools: ['load_skill'] })).registry.tools()).toHaveLength(1);
  });

  it('gives the body and what else there is', async () => {
    expect(await load({ name: 'tea' })).toEqual({
      success: true,
      name: 'tea',
      body: 'Steep it.',
      available_references: ['deep/more.md', 'times.md'],
      available_scripts: ['boil.sh'],
      reference_content: null,
      script_content: null,
      error: null,
    });
    expect(await load({ name: 'bare' })).toMatchObject({ available_references: [], available_scripts: [] });
  });

  it.each([
    ['a reference', { reference: 'times.md' }, { reference_content: 'Green: 2 minutes.', script_content: null }],
    ['a reference below', { reference: 'deep/more.md' }, { reference_content: 'More.' }],
    ['a script, as text', { script: 'boil.sh' }, { script_content: '#!/bin/sh', reference_content: null }],
    [
      'both',
      { reference: 'times.md', script: 'boil.sh' },
      { reference_content: 'Green: 2 minutes.', script_content: '#!/bin/sh' },
    ],
  ])('gives %s instead of the body', async (_, args, expected) => {
    expect(await load({ name: 'tea', ...args })).toMatchObject({ body: null, error: null, ...expected });
  });

  it.each([
    ['one that is not there', { reference: 'none.md' }],
    ['one of the other folder', { script: 'times.md' }],
    ['a path out of its folder', { reference: '../secret.md' }],
    ['a path out of the skill', { script: '../../bare/SKILL.md' }],
    ['an absolute path', { reference: '/etc/passwd' }],
    ['a link', { reference: 'out.md' }],
    ['a folder', { reference: 'deep' }],
    ['an empty name', { reference: '' }],
    ['a NUL', { reference: 'times.md\0' }],
  ])('says in `error` that it cannot give %s, with every key there', async (_, args) => {
    const result = await load({ name: 'tea', ...args });
    expect(Object.keys(result).sort()).toEqual(KEYS);
    expect(result).toMatchObject({ success: true, name: 'tea', reference_content: null, script_content: null });
    expect(String(result.error)).not.toMatch(/^(null|undefined|)$/);
    expect(JSON.stringify(result)).not.toMatch(/Neither of both|root:|Body of bare/);
  });

  it.each([
    ['does not exist', 'te', {}],
    ['hides itself from models', 'quiet', {}],
    ['is out of scope', 'tea', { boundSkills: ['bare'] }],
    ['is a path', '../skills/tea', {}],
    ['is empty', '', {}],
  ])('answers a skill that %s with an error and nothing else, and says no success', async (_, name, turn) => {
    const result = await load({ name }, turn);
    expect(Object.keys(result).sort()).toEqual(KEYS);
    expect(result).toMatchObject({ success: false, name, body: '', available_references: [], available_scripts: [] });
    expect(result.error).toEqual({ code: 'SKILL_NOT_FOUND', message: expect.stringContaining('No skill') });
  });

  it.each([[{}], [{ name: 7 }], [{ name: 'tea', refrence: 'x' }], [null], ['tea']])(
    'refuses arguments of the wrong shape: %j',
    async (args) => {
      expect(await load(args)).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
    },
  );
});
