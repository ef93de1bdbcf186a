import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const LEGACY = 'templates/roles/qa/system_prompt.md';

describe('the prompt of a role', () => {
  it('is the index of skills with its own first, and its body', async () => {
    const tree = { ...skill('backend'), ...skill('qa'), ...skill('quiet', { 'disable-model-invocation': 'true' }) };
    const { registry } = await openRegistry({ ...tree, [LEGACY]: 'Legacy.' });
    expect(await registry.admin.resolveRolePrompt('qa')).toEqual({
      source: 'skill',
      text: 'Skills:\n* qa: Does qa.\n- backend: Does backend.\n\nBody of qa.',
    });
    // Hidden from models it may be; the owner names the role.
    const quiet = await registry.admin.resolveRolePrompt('quiet');
    expect(quiet.text.startsWith('Skills:\n* quiet: Does quiet.\n- backend: ')).toBe(true);
  });

  it('lists long descriptions shortened', async () => {
    const long = 'word '.repeat(400).trim();
    const { registry } = await openRegistry({ ...skill('qa'), ...skill('wordy', { description: long }) });
    const [, , line = ''] = (await registry.admin.resolveRolePrompt('qa')).text.split('\n');
    expect(line).toMatch(/^- wordy: (word )+word…$/);
    expect(await countTokens(line)).toBeLessThanOrEqual(120);
  });

  it('is the rendered template where there is no skill, and one sentence where there is neither', async () => {
    const { registry } = await openRegistry({ [LEGACY]: 'You test {{ product }}{{ nobody }}.\n' });
    const variables = { product: 'tea <pots>' };
    expect(await registry.admin.resolveRolePrompt('qa', { variables })).toEqual({
      source: 'legacy',
      text: 'You test tea <pots>.',
    });
    expect(await registry.admin.resolveRolePrompt('backend')).toEqual({
      source: 'fallback',
      text: 'You are a backend specialist.',
    });
  });

  it('is recorded each time as a body that is given, also when nothing is read again', async () => {
    const { registry } = await openRegistry({ ...skill('qa'), 'data/.keep': '' });
    for (let time = 0; time < 3; time++) await registry.admin.resolveRolePrompt('qa');
    await registry.admin.resolveRolePrompt('backend');
    const events = await registry.usage.events();
    expect(events.map(({ kind, skillId, outcome }) => `${kind} ${skillId} ${outcome}`)).toEqual(
      Array<string>(3).fill('load qa given'),
    );
    expect(new Set(events.map(({ tokens }) => tokens)).size).toBe(1);
  });

  it('follows edits: of the template, of the skill that comes, and of its body', async () => {
    const { registry, root } = await openRegistry({ [LEGACY]: 'One.' });
    const text = async () => (await registry.admin.resolveRolePrompt('qa')).text;
    expect(await text()).toBe('One.');
    writeTree(root, { [LEGACY]: 'Two.' });
    expect(await text()).toBe('Two.');
    writeTree(root, skill('qa'));
    await registry.refresh();
    expect(await text()).toContain('Body of qa.');
    writeTree(root, skill('qa', {}, 'New body.'));
    expect(await text()).toContain('New body.');
  });

  it('comes from the folder that is named, through a root that is a link', async () => {
    const real = tempFolder({ 'roles/qa/system_prompt.md': 'From roles.', [LEGACY]: 'From templates.' });
    const root = join(tempFolder({ link: { link: real } }), 'link');
    const registry = await createSkillRegistry({ root, config: { sources: [] } });
    onTestFinished(() => registry.close());
    expect((await registry.admin.resolveRolePrompt('qa')).text).toBe('From templates.');
    expect((await registry.admin.resolveRolePrompt('qa', { templates: 'roles' })).text).toBe('From roles.');
    expect((await registry.admin.resolveRolePrompt('qa', { templates: 'none' })).source).toBe('fallback');
  });

  it.each([
    '',
    '.',
    '..',
    '../qa',
    'qa/../qa',
    '/etc',
    'qa\0',
    'qa\n',
    'q a',
    'qa:x',
    'a\\b',
    '-qa',
    'qa.',
    'é',
    'a'.repeat(65),
    '{{ 7 * 7 }}',
  ])('is refused for what is no name: %j', async (role) => {
    const { registry } = await openRegistry({ [LEGACY]: 'Legacy.', 'templates/system_prompt.md': 'Above.' });
    await expect(registry.admin.resolveRolePrompt(role)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('of a template that does not render is refused, and a link in its place is not followed', async () => {
    const { registry } = await openRegistry({
      'templates/roles/broken/system_prompt.md': '{% if %}',
      'templates/roles/out/system_prompt.md': { link: '/etc/hostname' },
      'templates/roles/away': { link: '/etc' },
      'templates/roles/folder/system_prompt.md/x': '',
    });
    const asked = (role: string) => registry.admin.resolveRolePrompt(role);
    await expect(asked('broken')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    for (const role of ['out', 'away']) await expect(asked(role)).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
    expect(await asked('folder')).toMatchObject({ source: 'fallback' });
  });
});
