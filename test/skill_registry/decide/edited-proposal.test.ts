import { describe, expect, it } from 'vitest';
import {
  type ProposalDocument,
  type ProposalEdit,
  readProposalFile,
  writeProposalFile,
} from '../../../extensions/skill_registry/propose/proposal-file.ts';
import { fc } from '../../helpers/properties.ts';
import { nastyText } from '../../lib/diff/nasty-text.ts';
import { editOf, proposal } from '../propose/proposal.ts';

/** What is read after a person has changed the file of `known`. */
function edited(known: ProposalDocument, edit: (text: string) => string): ReturnType<typeof readProposalFile> {
  return readProposalFile(edit(writeProposalFile(known)), known);
}

function replaced(known: ProposalDocument, from: string, to: string): ReturnType<typeof readProposalFile> {
  return edited(known, (text) => {
    expect(text).toContain(from);
    return text.replace(from, () => to);
  });
}

describe('a person may', () => {
  const known = proposal({ evidence: 'Three users asked.\n\nSee the log.', justification: 'One.\n\nTwo \u202e.' });
  it.each<[string, string, string, Partial<ProposalEdit>]>([
    ['change the diff', '+Wait three', '+Wait four', { diff: known.diff.replace('three', 'four') }],
    ['change a quotation', '> One.', '> Uno.', { justification: 'Uno.\n\nTwo \u202e.' }],
    ['type a character by its number', '> One.', '> O⟦U+200B⟧ne.', { justification: 'O\u200bne.\n\nTwo \u202e.' }],
    ['add a line without the mark', '> One.', '> One.\nAnd more.', { justification: 'One.\nAnd more.\n\nTwo \u202e.' }],
    ['add empty lines around', '\n> One.', '\n\n\n> One.', {}],
    [
      'replace all of it',
      '> One.\n>\n> Two ⟦U+202E⟧.',
      'Because.\n\n## Notes\n\nx',
      { justification: 'Because.\n\n## Notes\n\nx' },
    ],
    ['quote it in a block', '> One.', '```\n## Diff\n```', { justification: '```\n## Diff\n```\n\nTwo \u202e.' }],
    ['delete the evidence', '> Three users asked.\n>\n> See the log.', '', { evidence: null }],
    ['say that there is none', '> Three users asked.\n>\n> See the log.', '(none)', { evidence: null }],
    ['delete what is written under Checks', '## Checks\n\n(none)\n', '## Checks\n', {}],
    ['write what they want under Checks', '## Checks\n\n(none)\n', '## Checks\n\nmine\n\n## Conflict\n', {}],
    ['remove the title', '# Update SKILL.md of tea', '', {}],
    ['use another fence', '```diff\n--- a', '~~~~ diff\n--- a', {}],
    ['write quotes into the frontmatter', 'skill: tea', "skill:   'tea'  # the tea", {}],
  ])('%s', (title, from, to, change) => {
    const closed = (text: string): string =>
      title === 'use another fence' ? text.replace('\n```\n', '\n~~~~\n') : text;
    const read = edited(known, (text) => {
      expect(text).toContain(from);
      return closed(text.replace(from, () => to));
    });
    expect(read).toEqual({ edit: { ...editOf(known), ...change } });
  });

  it('add evidence where there was none', () => {
    expect(replaced(proposal(), '(none)', 'The log.')).toEqual({
      edit: { ...editOf(proposal()), evidence: 'The log.' },
    });
  });

  it('delete what says that there is no evidence', () => {
    expect(replaced(proposal(), '(none)\n\n## Checks', '## Checks')).toEqual({ edit: editOf(proposal()) });
  });

  it('change the order of the sections', () => {
    const [head, diff, ...rest] = writeProposalFile(known).split(/(?=^## )/m);
    expect(readProposalFile([head, ...rest, diff].join('\n'), known)).toEqual({ edit: editOf(known) });
  });

  it('write a diff of another kind altogether', () => {
    const read = edited(known, (text) => text.replace(/```diff[\s\S]*?\n```\n/, '```\n@@\n-a\n+b⟦U+000D⟧\n\n```\n'));
    expect(read).toEqual({ edit: { ...editOf(known), diff: '@@\n-a\n+b\r\n' } });
  });

  it('empty the diff', () => {
    const read = edited(known, (text) => text.replace(/```diff[\s\S]*?\n```\n/, '```diff\n```\n'));
    expect(read).toEqual({ edit: { ...editOf(known), diff: '' } });
  });
});

it('keeps empty lines of context when the editor of a changed diff strips blanks', () => {
  const read = edited(proposal(), (text) => text.replace('+Wait three', '+Wait four').replace(/ +$/gm, ''));
  expect(read).toMatchObject({ edit: { diff: proposal().diff.replace('three', 'four') } });
});

it('takes a blank away from the end of a line where a person did', () => {
  const known = proposal({ diff: '@@ -1 +1 @@\n-a\n+b  \n' });
  expect(replaced(known, '+b ⟦U+0020⟧\n', '+b\n')).toMatchObject({ edit: { diff: '@@ -1 +1 @@\n-a\n+b\n' } });
});

describe('is refused, and told what to do:', () => {
  it.each([
    [
      'a state of one’s own',
      'state: open',
      'state: approved',
      /"state" .* says "approved", expected "open"\. .*proposals approve/,
    ],
    [
      'a decision',
      'created:',
      'decided_by: me\ncreated:',
      /a field that was not there, "decided_by"\. Remove it: .*approve/,
    ],
    ['another skill', 'skill: tea', 'skill: coffee', /"skill" .* says "coffee", expected "tea"\. Put it back/],
    ['another path', 'path: SKILL.md', 'path: ../x', /"path" .* says "\.\.\/x", expected "SKILL\.md"/],
    ['another base', 'base: sha256:00', 'base: null', /"base" .* says null, expected "sha256:00"/],
    [
      'a mapping for a text',
      'skill: tea',
      'skill: { toString: 1 }',
      /"skill" .* says \{"toString":1\}, expected "tea"/,
    ],
    ['a missing field', 'author: builder_agent\n', '', /"author" is gone .* author: "builder_agent"/],
    ['a field of one’s own', 'path:', '"__proto__": 1\npath:', /a field that was not there, "__proto__"/],
    [
      'a field twice',
      'state: open',
      'state: open\nstate: approved',
      /no longer valid YAML \(Map keys must be unique, line 4/,
    ],
    ['no YAML', 'state: open', 'state: [', /no longer valid YAML/],
    ['no frontmatter', '---\nid', 'id', /Expected the frontmatter at the start/],
    ['a frontmatter without end', '\n---\n', '\n', /Expected the frontmatter at the start/],
    ['no Evidence', '## Evidence', '', /"## Evidence" is missing\. Put it back/],
    ['two Diffs', '## Checks', '## Diff', /Line \d+ is a second "## Diff"\. Keep one of them/],
    ['no block below Diff', '```diff', '', /code block opened on line 25 is never closed/],
    [
      'text beside the block',
      '## Diff\n',
      '## Diff\n\nSee:\n',
      /Expected one fenced block below "## Diff", and nothing beside it/,
    ],
    ['two blocks', '\n```\n', '\n```\n\n```\n```\n', /Expected one fenced block below "## Diff"/],
    ['a block that ends too early', '-Wait.', '```\n-Wait.', /never closed|Expected one fenced block/],
    [
      'a block that does not end',
      '\n```\n',
      '\n',
      /The code block opened on line \d+ is never closed\. End it with a line of ```/,
    ],
  ])('%s', (_, from, to, problem) => {
    const read = replaced(proposal(), from, to);
    expect(read).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each(['', '\0', '---', '---\n---', '# Update', '> x'.repeat(3)])('what is no proposal at all, %j', (text) => {
    expect(readProposalFile(text, proposal())).toEqual({ problem: expect.any(String) });
  });
});

it('reads what stands in the file, not what it knows, once they differ', () => {
  fc.assert(
    fc.property(nastyText, nastyText, (diff, words) => {
      const one = proposal({ diff, justification: words, evidence: words });
      const other = proposal({ diff: `@@ other\n`, justification: 'Other.', evidence: 'Other.' });
      const read = readProposalFile(writeProposalFile(one), other);
      // Of what is typed into a file, line ends are line feeds, and none is missing at the end of a diff.
      const typed = words.replaceAll('\r\n', '\n');
      const lines = diff.replace(/\n*$/, '\n').replace(/^\n$/, '');
      expect(read).toEqual({ edit: { diff: expect.any(String), justification: typed, evidence: typed } });
      expect(read).toHaveProperty('edit.diff', lines);
    }),
  );
});

it('gives back text or a problem for any file, and never throws', () => {
  const mutation = fc.record({ at: fc.nat(700), remove: fc.nat(40), add: nastyText });
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const read = edited(proposal(), (text) =>
        mutations.reduce((all, { at, remove, add }) => all.slice(0, at) + add + all.slice(at + remove), text),
      );
      expect(Object.keys(read)).toEqual('edit' in read ? ['edit'] : ['problem']);
    }),
  );
});
