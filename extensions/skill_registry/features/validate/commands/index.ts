import { withFormat } from '../../../../../lib/findings/index.ts';
import type { FeatureCommands } from '../../../core/command-line.ts';

const validating = () => import('./validate.ts');

export const commands: FeatureCommands = {
  add(make) {
    const validate = make(['folders', 2], 'validate', '$ skills', 'validate', validating)
      .description('check skills against the rules of agentskills.io, and say what is wrong')
      .argument(
        '[path...]',
        'skill folders, their SKILL.md, prompt packs, or folders with skills below (default: this folder)',
      )
      .option('--changed', 'only skills with changes that git has not committed, staged or not');
    const profile = validate
      .createOption('--profile <name>', 'the rules: of agentskills.io (spec), stricter ones, or what is read here')
      .choices(['spec', 'strict', 'lenient'])
      .default('spec');
    withFormat(validate.addOption(profile).option('--strict', 'end with 1 for a warning, too'));
    make(['folders', 3], 'properties', '$ skills/code-review | jq .name', 'properties', validating)
      .description('the fields of one skill as JSON')
      .argument('<path>', 'skill folder, or its SKILL.md');
    make(['folders', 4], 'prompt', '$ skills/* > prompt.xml', 'prompt', validating)
      .description('the <available_skills> block for the system prompt of any agent')
      .argument('<path...>', 'skill folders, or their SKILL.md');
    make(['setup', 4], 'new', '$ brew-tea --description "How to ..."', 'createSkill', () => import('./new.ts'))
      .description('start a skill: a valid SKILL.md to fill in')
      .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
      .option('--description <text>', 'what it does, and when to use it');
  },
  completes: { new: 'files' },
  doctor: async ({ registry }, terminal) => ({
    problems: await terminal.during('Looking for hidden text', registry.admin.hiddenTextProblems()),
  }),
};
