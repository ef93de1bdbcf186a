import { type Command, InvalidArgumentError, Option } from 'commander';
import { BY, ID, type Make, REASON, withReason } from '../extensions/skill_registry/core/command-line.ts';
import { collect } from '../lib/command-line/index.ts';

/** @param added - Adds to a command the options that features have for it. */
export function addCommands(make: Make, added: (command: Command) => Command): void {
  const port = from(0, 65_535, 'A port is 0 to 65535.');
  make(['first', 9], 'start', '$ --root .', 'start', () => import('./commands/start.ts'))
    .description('talk at this terminal to an agent that has the skills')
    .option('--enable <id>', 'also start an extension that is off by default, such as skill_mcp; repeatable', collect);
  addCatalogCommands(make, added);
  addApprovals(make);
  const serving = added(
    make(['first', 10], 'mcp', '$ --http 7337', 'mcp', () => import('./commands/mcp.ts'))
      .description('serve the skills over MCP: on standard input and output, or HTTP')
      .option('--http <port>', 'listen on this HTTP port (0: any free one); the address is printed', port)
      .option(
        '--host <host>',
        'with --http: the address to listen on (default: 127.0.0.1); others need a token in SKILL_MCP_TOKEN',
      )
      .option('--allow-host <name>', 'with --http: another host name for clients; repeatable', collect)
      .option('--agent <id>', 'serve only the skills this agent is bound to, and take its proposals')
      .option('--thread <name>', 'on standard input and output: the conversation that this process serves'),
  );
  const issuing = () => import('./commands/mcp-token.ts');
  const token = make(serving, 'token', '$ list').description(
    'tokens that open /agents/<id>/mcp of mcp --http, one agent each',
  );
  make(token, 'list', '$ --json', 'listTokens', issuing).description('whose there are, without the tokens themselves');
  make(token, 'add', '$ backend', 'addToken', issuing)
    .description('issue a token for an agent; it is shown once')
    .argument('<agent>', 'id of an agent')
    .option(...BY);
  make(token, 'revoke', '$ backend', 'revokeToken', issuing)
    .description('end all tokens of an agent, or one')
    .argument('<agent>', 'id of an agent')
    .argument('[token]', 'id of one token, as token list shows it')
    .option(...BY);
  make(['first', 7], 'review', '$', 'review', () => import('./commands/review.ts'))
    .description('open a page for your browser where you see what waits, and decide; its address is printed')
    .option('--port <port>', 'listen on this port of 127.0.0.1 (0: any free one)', port, 0)
    .option('--as <name>', BY[1]);
  make(['first', 1], 'init', '$', 'init', () => import('./commands/init.ts'))
    .description('make this folder a root: a config for the agents of this machine, skills/, and its approval')
    .option('--yes', 'show what is written and do not ask')
    .option('--reason <text>', 'why the root is approved; recorded with the decision')
    .option(...BY);
  make(['setup', 5], 'completion', 'source <($ bash)', 'completion', () => import('./commands/completion.ts'))
    .description('a completion script for bash or zsh')
    .argument('<shell>', 'bash, zsh');
}

// --- internal ---

function addCatalogCommands(make: Make, added: (command: Command) => Command): void {
  const count = from(1, 200, 'It is a whole number from 1 to 200.');
  added(
    make(['first', 2], 'list', '$ --json | jq .total', 'list', () => import('./commands/list.ts'))
      .description('the catalog: id, tokens, source, description')
      .option(
        '--all',
        'also skills whose id another skill has; for each skill, which agents see it, and why the others do not',
      ),
  );
  for (const [group, name] of [
    ['root', 'disable'],
    ['old', 'enable'],
  ] as const) {
    const made = make([group, 3], name, '$ code-review', 'disable', () => import('./commands/disable.ts'))
      .description('keep a skill from agents, in the config, or give it to them again; its files stay')
      .argument('<id>', ID)
      .option('--agent <id>', 'only for this agent (default: for every agent)')
      .option(...REASON)
      .option(...BY);
    if (group === 'root') made.option('--off', 'give it to agents again');
    else made.setOptionValue('off', true);
  }
  make(
    ['root', 2],
    'try',
    '$ code-review "what is wrong with this change?"',
    'tryOut',
    () => import('./commands/try.ts'),
  )
    .description('what an agent would be given of a skill for a question: scope, line, body; nothing is recorded')
    .argument('<id>', ID)
    .argument('<question>', 'what somebody would ask the agent')
    .option('--agent <id>', 'for this agent (default: one without bindings)');
  const raw = new Option('--raw', 'print SKILL.md as it is, frontmatter included');
  raw.conflicts(['resource', 'reference', 'script']);
  added(
    make(['first', 4], 'show', '$ code-review', 'show', () => import('./commands/show.ts'))
      .description('one skill: its instructions, its file as it is, or one of its files')
      .argument('<id>', ID)
      .option('--resource <path>', 'print this file of the skill')
      .option('--reference <name>', 'print this file of references/')
      .option('--script <name>', 'print this file of scripts/; it is never run'),
  ).addOption(raw);
  added(
    make(['first', 3], 'search', '$ "flaky tests" --limit 5', 'search', () => import('./commands/search.ts'))
      .description('the skills nearest to it, best first, and why')
      .argument('<query>', 'what the skill should help with, its name, or a "phrase in quotes"')
      .option('--limit <count>', 'at most this many, 1-200 (default: 20)', count)
      .option('--tag <tag>', 'only skills with this tag')
      .option('--source <id>', 'only skills of this source'),
  );
  added(
    make(['first', 8], 'doctor', '$ --skills ~/.claude/skills', 'doctor', () => import('./commands/doctor.ts'))
      .description('everything that is wrong, and what to fix first')
      .option('--all', 'every problem, not only ten of each code'),
  );
}

function addApprovals(make: Make): void {
  const trusting = () => import('./commands/trust.ts');
  const name = 'name of its folder in extensions/';
  const digest = [
    '--digest <digest>',
    'the digest that show prints; without it you are asked at the terminal',
  ] as const;
  for (const [place, group] of [
    ['approvals', 'approvals'],
    ['old', 'trust'],
  ] as const) {
    const all = make([place, 1], group, '$ list').description(
      'what you have allowed on this machine: roots, sources, skills and extensions; list, show, allow, revoke',
    );
    make(all, 'list', '$ --json', 'list', trusting).description('your decisions, and what waits for one');
    make(all, 'show', '$ pdf-tools', 'show', trusting)
      .description('what was found in a skill, who approved a source, or what agents wrote for an extension')
      .argument('<what>', SUBJECT);
    make(all, 'allow', '$ ~/my-agents', 'allow', trusting)
      .description(
        'approve what show prints; a root is approved without a question, and its code and settings take effect',
      )
      .argument('[what]', `${SUBJECT} (default: the root of this command)`)
      .option(...digest)
      .option(...REASON)
      .option(...BY);
    withReason(make(all, 'revoke', '$ ~/my-agents', 'revoke', trusting))
      .description(
        'end an approval: nothing is taken from a revoked source; an extension is moved to where it does not run',
      )
      .argument('[what]', `${SUBJECT} (default: the root of this command)`);
  }
  const extending = () => import('./commands/extensions.ts');
  const extensions = make(['old', 2], 'extensions', '$ list').description('older name of approvals, for extensions');
  make(extensions, 'list', '$ --json', 'listExtensions', extending);
  make(extensions, 'show', '$ my_tool', 'showExtension', extending).argument('<name>', name);
  make(extensions, 'approve', '$ my_tool', 'approve', extending)
    .argument('<name>', name)
    .option(...digest)
    .option(...REASON)
    .option(...BY);
  withReason(make(extensions, 'revoke', '$ my_tool', 'revoke', extending)).argument('<name>', name);
}

const SUBJECT =
  'folder of a root, id of a skill, extensions/<name>, or source (owner/repo, an address, npm:name, "mcp:program arguments", a folder or file of the config); for a folder with the name of a skill write ./name';

function from(least: number, most: number, message: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(message);
  };
}
