import type { SkillRegistry } from 'skill-registry';
import { ADA, LONGER, TEA } from './tea.ts';
import type { Tree } from './temp-folder.ts';

/** One of each thing that changes a skill or a proposal. `prepare` brings about what it needs. */
export interface Change {
  readonly name: string;
  /** @returns what `make` is handed. */
  prepare(registry: SkillRegistry): Promise<string>;
  make(registry: SkillRegistry, prepared: string): Promise<unknown>;
}

const NEW = '---\nname: new\ndescription: Something new.\n---\n\nNew.\n';
const REASON = { ...ADA, reason: 'Because.' };
const nothing = async (): Promise<string> => '';

const propose =
  (input: object): Change['prepare'] =>
  async ({ proposals }) => {
    const { proposalId } = await proposals.propose({ skillId: 'tea', justification: 'Needed.', ...input });
    return proposalId;
  };

/** Of a skill, so what it was before can be compared with what it is after. */
export const SKILL_CHANGES: readonly Change[] = [
  {
    name: 'approving an update',
    prepare: propose({ content: LONGER }),
    make: ({ proposals }, id) => proposals.approve(id, ADA),
  },
  {
    name: 'approving a new skill',
    prepare: propose({ skillId: 'new', kind: 'create', content: NEW }),
    make: ({ proposals }, id) => proposals.approve(id, ADA),
  },
  {
    name: 'approving a deletion',
    prepare: propose({ kind: 'delete' }),
    make: ({ proposals }, id) => proposals.approve(id, ADA),
  },
  {
    name: 'approving the removal of a file',
    prepare: propose({ path: 'references/a.md', remove: true }),
    make: ({ proposals }, id) => proposals.approve(id, ADA),
  },
  {
    name: 'rolling back',
    async prepare({ history, admin: { management } }) {
      await history.revisions('tea');
      await management.write('tea', 'SKILL.md', LONGER, ADA);
      await management.write('tea', 'references/b.md', 'b\n', ADA);
      await management.write('tea', 'references/a.md', null, ADA);
      return '1';
    },
    make: ({ history }, revision) => history.rollback('tea', revision, ADA),
  },
  { name: 'creating', prepare: nothing, make: ({ admin: { management } }) => management.create('new', NEW, ADA) },
  {
    name: 'writing',
    prepare: nothing,
    make: ({ admin: { management } }) => management.write('tea', 'SKILL.md', LONGER, ADA),
  },
  { name: 'removing', prepare: nothing, make: ({ admin: { management } }) => management.remove('tea', ADA) },
  {
    name: 'restoring',
    async prepare({ admin: { management } }) {
      await management.remove('tea', ADA);
      return '';
    },
    make: ({ history }) => history.restore('tea', ADA),
  },
];

/** Of a proposal alone. */
export const PROPOSAL_CHANGES: readonly Change[] = [
  { name: 'proposing', prepare: nothing, make: (registry) => propose({ content: LONGER })(registry) },
  {
    name: 'rejecting',
    prepare: propose({ content: LONGER }),
    make: ({ proposals }, id) => proposals.reject(id, REASON),
  },
  {
    name: 'recommending',
    prepare: propose({ content: LONGER }),
    make: ({ proposals }, id) => proposals.recommend(id, 'approve', REASON),
  },
];

/** A skill for them to change. */
export const CHANGED_SKILL: Tree & { readonly 'skills/tea/SKILL.md': string } = {
  'skills/tea/SKILL.md': TEA,
  'skills/tea/references/a.md': 'a\n',
  'skills/tea/scripts/run.sh': { content: 'echo\n', mode: 0o755 },
};
