import { join } from 'node:path';
import { expect } from 'vitest';
import { toPrompt } from '../../../../extensions/skill_registry/index.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { fenced, type Row, skillFolder } from './row.ts';

function skill(name: string, description: string): string {
  return skillFolder(fenced(`name: ${name}`, `description: ${description}`), name);
}

export const PROMPT_ROWS: readonly Row[] = [
  {
    id: 'T01',
    says: 'gives an empty block for no skills',
    check: () => expect(toPrompt([])).toBe('<available_skills>\n</available_skills>'),
  },
  {
    id: 'T02',
    says: 'puts every tag and every value on a line of its own',
    check: () => {
      const folder = skill('my-skill', 'A test skill');
      const lines = [
        ...['<available_skills>', '<skill>', '<name>', 'my-skill', '</name>', '<description>', 'A test skill'],
        ...['</description>', '<location>', join(folder, 'SKILL.md'), '</location>', '</skill>', '</available_skills>'],
      ];
      expect(toPrompt([folder])).toBe(lines.join('\n'));
    },
  },
  {
    id: 'T03',
    says: 'gives two skills in the order they were named',
    check: () => {
      const text = toPrompt([skill('skill-b', 'B'), skill('skill-a', 'A')]);
      expect(text.match(/<skill>|<\/skill>/g)).toEqual(['<skill>', '</skill>', '<skill>', '</skill>']);
      expect(text.indexOf('\nskill-b\n')).toBeGreaterThan(0);
      expect(text.indexOf('\nskill-a\n')).toBeGreaterThan(text.indexOf('\nskill-b\n'));
    },
  },
  {
    id: 'T04',
    says: 'escapes tags, ampersands and both quotes',
    check: () => {
      const text = toPrompt([skill('my-skill', `Use <foo> & <bar> tags, "so" it's said`)]);
      expect(text).toContain('\nUse &lt;foo&gt; &amp; &lt;bar&gt; tags, &quot;so&quot; it&#x27;s said\n');
    },
  },
  {
    id: 'T02',
    says: 'escapes what could end the location',
    deliberate: {
      reference: 'the location as it is',
      reason: 'a folder name with & or < would make the block ill-formed, or a door into the prompt',
    },
    check: () => {
      const root = tempFolder({ "it's <a> & b/SKILL.md": fenced('name: a', 'description: d') });
      expect(toPrompt([join(root, "it's <a> & b")])).toContain(`\n${root}/it's &lt;a&gt; &amp; b/SKILL.md\n`);
    },
  },
];
