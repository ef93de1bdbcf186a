import type { Command } from 'commander';
import { collect } from '../../../../../lib/command-line/index.ts';
import { BY, type FeatureCommands } from '../../../core/command-line.ts';

export const commands: FeatureCommands = {
  add(make) {
    withData(make(['setup', 6], 'serve', '$ --data /srv/skills --port 7800', 'serve', () => import('./serve.ts')))
      .description('serve the skills of teams to their machines: changes, proposals, and the review page')
      .option('--port <port>', 'listen on this port (0: any free one); the address is printed', Number, 7800)
      .option('--host <host>', 'the address to listen on; a proxy with TLS stands before any other', '127.0.0.1');
    const managing = () => import('./manage.ts');
    const hub = make(['setup', 7], 'hub', '$ token list --data /srv/skills').description(
      'tokens, people, audit, backup, import and export of what serve has, at the machine that has it',
    );
    const token = make(hub, 'token', '$ list --data /srv/skills').description('tokens, each for one space');
    withData(make(token, 'list', '$ --data /srv/skills', 'listTokens', managing)).description(
      'whose there are, without the tokens themselves',
    );
    withData(make(token, 'add', '$ --data D --space team --role admin --person ada', 'addToken', managing))
      .description('issue a token; it is shown once')
      .requiredOption('--space <name>', 'the team whose skills it opens')
      .requiredOption('--role <role>', 'reader, proposer, reviewer or admin')
      .requiredOption('--person <name>', 'who answers for what is done with it')
      .option('--days <days>', 'after so many days it is over (default: never)', Number)
      .option(...BY);
    withData(make(token, 'revoke', '$ 3f2a51c09b77 --data /srv/skills', 'revokeToken', managing))
      .description('end a token: its next request is refused')
      .argument('<token>', 'its id, as token list shows it')
      .option(...BY);
    const person = make(hub, 'person', '$ list --data /srv/skills').description(
      'people whom a proxy names, and who may not come in any more',
    );
    withData(make(person, 'list', '$ --data /srv/skills', 'listPeople', managing)).description('who they are');
    withData(make(person, 'add', '$ ada --data D --space team --role reviewer', 'addPerson', managing))
      .description('give a person a role in a space, where a proxy says who asks')
      .argument('<name>', 'as the proxy says it')
      .requiredOption('--space <name>', 'the team whose skills are meant')
      .requiredOption('--role <role>', 'reader, proposer, reviewer or admin')
      .option(...BY);
    withData(make(person, 'remove', '$ ada --data D', 'removePerson', managing))
      .description('let a person in no more, by OpenID neither; tokens are revoked one by one')
      .argument('<name>', 'as the audit says it, without person:')
      .option(...BY);
    withData(make(hub, 'audit', '$ --data /srv/skills', 'showAudit', managing)).description(
      'what was done, and whether the chain of hashes is whole',
    );
    withSpace(withData(make(hub, 'usage', '$ --data /srv/skills --space team', 'showUsage', managing)))
      .description('how often agents were given the skills, on machines that share it (usage: share)')
      .option('--days <days>', 'of the last days, today with them', Number, 30);
    withData(make(hub, 'backup', '$ copy.db --data /srv/skills', 'makeBackup', managing))
      .description('a whole copy of the database, also while serve runs')
      .argument('<file>', 'a new file');
    withData(make(hub, 'restore', '$ copy.db --data /srv/skills', 'restoreBackup', managing))
      .description('put a backup in place; stop serve first. Machines then read everything again')
      .argument('<file>', 'made by hub backup');
    const importExport = () => import('./import-export.ts');
    withSpace(withData(make(hub, 'import', '$ ./skills --data /srv/skills --space team', 'importSkills', importExport)))
      .description('publish the skills of a folder; what is not in it stays')
      .argument('<dir>', 'with a folder for each skill, at any depth')
      .option(
        '--allow-block <id@digest>',
        'let in a skill that looks like an attack, with exactly the files of this digest, which the refusal prints; repeatable',
        collect,
      )
      .option(...BY);
    withSpace(withData(make(hub, 'export', '$ ./copy --data /srv/skills --space team', 'exportSkills', importExport)))
      .description('write the skills of a space as folders, which hub import takes')
      .argument('<dir>', 'a new folder, or an empty one');
    make(hub, 'migrate', `$ --store '\${OWNER}' --role hub`, 'migrateStore', managing)
      .description('make the tables of a hub in PostgreSQL, as their owner, and print how')
      .requiredOption(...STORE)
      .option('--role <role>', 'the role of the hubs, which is there: it is given what it needs and no more');
  },
};

// --- internal ---

const STORE = ['--store <address>', `postgres://USER@HOST:PORT/DATABASE, or \${NAME} of the environment`] as const;

function withData(command: Command): Command {
  return command.option('--data <dir>', 'folder of the hub').option(...STORE);
}

function withSpace(command: Command): Command {
  return command.requiredOption('--space <name>', 'the team whose skills they are');
}
