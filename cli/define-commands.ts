import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProposalState, ValidationProfile } from 'skill-registry';
import type { EditOptions } from './commands/edit-proposal.ts';
import type { ApproveExtensionOptions } from './commands/extensions.ts';
import type { McpOptions } from './commands/mcp.ts';
import type { NewOptions } from './commands/new.ts';
import type { PurgeOptions } from './commands/proposals.ts';
import type { SearchFlags } from './commands/search.ts';
import type { ShowFlags } from './commands/show.ts';
import { FINDING_FORMATS, type FindingFormat } from './finding-formats.ts';
import {
  collect,
  type DecisionOptions,
  type ExitStatus,
  type GlobalOptions,
  type MakeCommand,
  SHELLS,
  type Terminal,
} from './terminal.ts';

/** Names, arguments and options of all commands but `start`. What one does is loaded when it is called. */
export function addCommands(
  make: MakeCommand,
  program: Command,
  done: (status: ExitStatus) => void,
  terminal: Terminal,
): void {
  addCatalogCommands(make, done, terminal);
  addPathCommands(make, done, terminal);
  addProposalCommands(make, done, terminal);
  addRevisionCommands(make, done, terminal);
  addTrustCommands(make, done, terminal);
  make('mcp', 'serve the skills over MCP: on standard input and output, or HTTP', 'skill-registry mcp --http 7337')
    .option('--http <port>', 'listen on this port instead (0: a free one); the address is printed', readPort)
    .option('--host <host>', 'listen here; off this machine SKILL_MCP_TOKEN has to be set', '127.0.0.1')
    .option('--allow-host <name>', 'with --http: another name it answers to; repeatable', collect)
    .option('--agent <id>', 'serve only the skills this agent is bound to')
    .action(async (options: McpOptions) => done(await (await import('./commands/mcp.ts')).mcp(options, terminal)));
  make('new', 'start a skill: a valid SKILL.md to fill in', 'skill-registry new brew-tea --description "How to ..."')
    .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
    .option('--description <text>', 'what it does, and when to use it')
    .action(async (id: string, options: NewOptions) =>
      done((await import('./commands/new.ts')).createSkill(id, options, terminal)),
    );
  make('completion', 'a completion script for bash, zsh or fish', 'source <(skill-registry completion bash)')
    .argument('<shell>', SHELLS.join(', '))
    .action(async (shell: string, options: GlobalOptions) =>
      done(await (await import('./commands/completion.ts')).completion(shell, program, options, terminal)),
    );
}

// --- internal ---

function addCatalogCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make('list', 'the catalog: id, tokens, source, description', 'skill-registry list --json | jq .total').action(
    async (options: GlobalOptions) => done(await (await import('./commands/list.ts')).list(options, terminal)),
  );
  make('show', 'one skill: its instructions, its file as it is, or one of its files', 'skill-registry show code-review')
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .option('--resource <path>', 'print this file of the skill')
    .option('--reference <name>', 'the same, below references/')
    .option('--script <name>', 'the same, below scripts/; it is never run')
    .option('--revision <revision>', 'as it was: a number or digest of its history')
    .addOption(
      new Option('--raw', 'print SKILL.md as it is, frontmatter included').conflicts([
        'resource',
        'reference',
        'script',
      ]),
    )
    .action(async (id: string, options: GlobalOptions & ShowFlags) =>
      done(await (await import('./commands/show.ts')).show(id, options, terminal)),
    );
  make('search', 'the skills that fit, best first, and why', 'skill-registry search "flaky tests" --limit 5')
    .argument('<query>', 'what the skill is to be for, its name, or a "phrase"')
    .option('--limit <count>', 'at most this many, 1-200 (default: 20)', countOption)
    .option('--tag <tag>', 'only skills with this tag')
    .option('--source <id>', 'only skills of this source')
    .option('--embed', 'first embed the skills that are not embedded yet, for search by meaning')
    .action(async (query: string, options: GlobalOptions & SearchFlags) =>
      done(await (await import('./commands/search.ts')).search(query, options, terminal)),
    );
  make('doctor', 'everything that is wrong, what to fix first', 'skill-registry doctor --skills ~/.claude/skills')
    .option('--overlap', 'skills that compete for the same tasks, and queries that another skill steals')
    .action(async (options: GlobalOptions & { overlap?: boolean }) =>
      done(
        await (options.overlap
          ? (await import('./commands/doctor.ts')).overlap(options, terminal)
          : (await import('./commands/doctor.ts')).doctor(options, terminal)),
      ),
    );
}

function addPathCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make(
    'validate',
    'whether skills are as agentskills.io wants them, and what is not',
    'skill-registry validate skills/code-review skills/tea/SKILL.md',
  )
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .addOption(new Option('--profile <name>', 'whose rules').choices(['spec', 'strict', 'lenient']).default('spec'))
    .addOption(new Option('--format <name>', 'findings with file and line, for machines').choices(FINDING_FORMATS))
    .action(
      async (
        paths: readonly string[],
        options: GlobalOptions & { profile: ValidationProfile; format?: FindingFormat },
      ) => done(await (await import('./commands/validate-properties-prompt.ts')).validate(paths, options, terminal)),
    );
  make('properties', 'the fields of one skill as JSON', 'skill-registry properties skills/code-review | jq .name')
    .argument('<path>', 'skill folder, or its SKILL.md')
    .action(async (path: string, options: GlobalOptions) =>
      done(await (await import('./commands/validate-properties-prompt.ts')).properties(path, options, terminal)),
    );
  make(
    'prompt',
    'the <available_skills> block for the system prompt of any agent',
    'skill-registry prompt skills/* > prompt.xml',
  )
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .action(async (paths: readonly string[], options: GlobalOptions) =>
      done(await (await import('./commands/validate-properties-prompt.ts')).prompt(paths, options, terminal)),
    );
}

function countOption(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= 200) return count;
  throw new InvalidArgumentError('It is a whole number from 1 to 200.');
}

function addProposalCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const proposals = make(
    'proposals',
    'changes that agents ask for: list, show, edit, approve, reject, purge, stats',
    'skill-registry proposals list',
  );
  const states = ['open', 'stale', 'approved', 'rejected', 'all'];
  make('list', 'proposals, newest first', 'skill-registry proposals list --state all', proposals)
    .addOption(new Option('--state <state>', 'only these (default: open and stale ones)').choices(states))
    .action(async (options: GlobalOptions & { state?: ProposalState | 'all' }) =>
      done(await (await import('./commands/proposals.ts')).listProposals(options, terminal)),
    );
  const id = 'its id, or enough of the beginning or end of it';
  make('show', 'one proposal, whole', 'skill-registry proposals show 4f2a91', proposals)
    .argument('<id>', id)
    .option('--proposed', 'only the whole text of the file as it proposes it')
    .action(async (wanted: string, options: GlobalOptions & { proposed?: boolean }) =>
      done(await (await import('./commands/proposals.ts')).showProposal(wanted, options, terminal)),
    );
  make(
    'edit',
    'put another text in the place of the proposed one, in $VISUAL or $EDITOR; of a stale one, solve the conflict',
    'skill-registry proposals edit 4f2a91 --from tea.md',
    proposals,
  )
    .argument('<id>', id)
    .option('--from <file>', 'the whole new text of the file; - for standard input')
    .option('--by <name>', 'who does it (default: whoever is logged in)')
    .action(async (wanted: string, options: GlobalOptions & EditOptions) =>
      done(await (await import('./commands/edit-proposal.ts')).editProposal(wanted, options, terminal)),
    );
  withActor(make('approve', 'apply one', 'skill-registry proposals approve 4f2a91', proposals))
    .argument('<id>', id)
    .action(async (wanted: string, options: GlobalOptions & DecisionOptions) =>
      done(await (await import('./commands/proposals.ts')).approveProposal(wanted, options, terminal)),
    );
  make(
    'reject',
    'turn one down; it is kept with the reason',
    'skill-registry proposals reject 4f2a91 --reason "too broad"',
    proposals,
  )
    .argument('<id>', id)
    .requiredOption('--reason <text>', 'why; whoever proposed it learns from it')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (wanted: string, options: GlobalOptions & DecisionOptions & { reason: string }) =>
      done(await (await import('./commands/proposals.ts')).rejectProposal(wanted, options, terminal)),
    );
  make(
    'purge',
    'take all texts of rejected ones out of the history, bytes and all; that they were is kept',
    'skill-registry proposals purge 4f2a91',
    proposals,
  )
    .argument('[id...]', id)
    .option('--rejected', 'all that are rejected')
    .option('--by <name>', 'who does it (default: whoever is logged in)')
    .action(async (ids: readonly string[], options: GlobalOptions & PurgeOptions) =>
      done(await (await import('./commands/proposals.ts')).purgeProposals(ids, options, terminal)),
    );
  make(
    'stats',
    'how proposals fare: accepted, time to decision, rolled back',
    'skill-registry proposals stats --json',
    proposals,
  ).action(async (options: GlobalOptions) =>
    done(await (await import('./commands/proposals.ts')).showStats(options, terminal)),
  );
}

function addRevisionCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make('history', 'every content a skill had, newest first', 'skill-registry history code-review')
    .argument('<id>', 'of a removed skill, too')
    .action(async (skill: string, options: GlobalOptions) =>
      done(await (await import('./commands/history.ts')).history(skill, options, terminal)),
    );
  make('diff', 'what changed between two revisions', 'skill-registry diff code-review 1 2')
    .argument('<id>')
    .argument('<a>', 'a number, or the beginning of a digest')
    .argument('<b>')
    .action(async (skill: string, a: string, b: string, options: GlobalOptions) =>
      done(await (await import('./commands/history.ts')).diff(skill, a, b, options, terminal)),
    );
  withActor(make('rollback', 'make a skill what it was; also a revision', 'skill-registry rollback code-review 1'))
    .argument('<id>')
    .argument('<revision>', 'a number, or the beginning of a digest')
    .action(async (skill: string, revision: string, options: GlobalOptions & DecisionOptions) =>
      done(await (await import('./commands/history.ts')).rollback(skill, revision, options, terminal)),
    );
  withActor(make('restore', 'bring back a skill that was removed', 'skill-registry restore code-review'))
    .argument('<id>')
    .action(async (skill: string, options: GlobalOptions & DecisionOptions) =>
      done(await (await import('./commands/history.ts')).restore(skill, options, terminal)),
    );
}

function withActor(command: Command): Command {
  return command.option('--reason <text>', 'why').option('--by <name>', 'who decides (default: whoever is logged in)');
}

/** What a person lets run. */
function addTrustCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const trust = make(
    'trust',
    'roots whose extensions, packages, addresses and .env may act: list, allow, revoke',
    'skill-registry trust allow .',
  );
  make('list', 'the roots you have decided about', 'skill-registry trust list --json', trust).action(
    async (options: GlobalOptions) => done(await (await import('./commands/trust.ts')).listTrust(options, terminal)),
  );
  make('allow', 'let a root act from now on', 'skill-registry trust allow ~/my-agents', trust)
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('./commands/trust.ts')).decideTrust('allow', root, options, terminal)),
    );
  make('revoke', 'treat a root as data again', 'skill-registry trust revoke ~/my-agents', trust)
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('./commands/trust.ts')).decideTrust('revoke', root, options, terminal)),
    );

  const extensions = make(
    'extensions',
    'the extensions of the package and the root, and what agents wrote that waits: list, show, approve, revoke',
    'skill-registry extensions list',
  );
  const name = 'name of its folder in extensions/';
  make('list', 'all of them, and what waits', 'skill-registry extensions list --json', extensions).action(
    async (options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).listExtensions(options, terminal)),
  );
  make('show', 'what agents wrote of one, as a difference', 'skill-registry extensions show my_tool', extensions)
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).showExtension(id, options, terminal)),
    );
  make(
    'approve',
    'put what agents wrote into effect, after you have seen the difference',
    'skill-registry extensions approve my_tool',
    extensions,
  )
    .argument('<name>', name)
    .option('--digest <digest>', 'of the difference that show printed; without it you are asked at the terminal')
    .action(async (id: string, options: GlobalOptions & ApproveExtensionOptions) =>
      done(await (await import('./commands/extensions.ts')).approve(id, options, terminal)),
    );
  make(
    'revoke',
    'throw away what waits; where nothing waits, take the extension out of extensions/',
    'skill-registry extensions revoke my_tool',
    extensions,
  )
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).revoke(id, options, terminal)),
    );
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is 0 to 65535.');
}
