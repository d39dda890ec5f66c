/** The command `cairn`. */
import { Command, Option } from 'commander';
import { DEFAULT_HOST, DEFAULT_PORT } from '../http/contract.js';
import { CairnError } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { addDemo } from './demo.js';
import { dslCommands } from './dsl-commands.js';
import { fileCommands } from './file-commands.js';
import { addForget } from './forgetting.js';
import { deleteTenant, doctor, embed, listTenants, migrate, recoverClock, reindex } from './maintenance.js';
import { addMcp } from './mcp.js';
import { addOperations } from './operations.js';
import { pauseCommands } from './pause-commands.js';
import { stopOnSignal, watchReader } from './reader.js';
import {
  databaseOption,
  embedderOf,
  environmentHelp,
  modelSettings,
  numberOption,
  originsOption,
  type Settings,
  wholeNumber,
  withStore,
} from './settings.js';
import { addShorthands } from './shorthands.js';
import { tail } from './tail.js';
import { plain } from './terminal.js';
import { tree } from './tree.js';

/** All commands; given the words of a command line, only the commands that they name. */
export function program(words?: readonly string[]): Command {
  const cairn = new Command('cairn')
    .description('The memory, context and coordination substrate for AI agents.')
    .version(version)
    .option('--debug', 'print the stack trace of an error')
    .configureOutput({ outputError: (text, write) => write(`${onOneLine(text)}\n`) })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText(
      'after',
      `
Examples:
  $ cairn remember "Anna prefers tea"             # stores it in ./cairn.db
  $ cairn recall "what does Anna drink"           # prints the best passages
  $ cairn forget --user anna                      # erases what is about her, with a receipt
  $ cairn serve                                   # http://127.0.0.1:8080 on ./cairn.db
  $ cairn serve --database postgres://db/cairn    # on PostgreSQL
  $ cairn keys create --tenant acme --role admin  # from then on, every request needs a key
  $ cairn demo                                    # fills ./cairn-demo.db with an example run
  $ cairn mcp                                     # MCP tools for an editor
  $ cairn tail                                    # prints events as they happen
  $ cairn doctor                                  # checks the whole store`,
    );

  addShorthands(cairn, words);
  addForget(cairn);

  cairn
    .command('serve')
    .description('serve the HTTP API')
    .addOption(databaseOption())
    .addOption(new Option('--host <address>', 'address to listen on').env('CAIRN_HOST').default(DEFAULT_HOST))
    .addOption(numberOption('port', 'port to listen on', DEFAULT_PORT, 0, 65_535))
    .addOption(
      numberOption(
        'max-body-bytes',
        'maximum size of a request body; operations that take a whole state allow eight times as much',
        8 * 1024 * 1024,
        1024,
        2 ** 30,
      ),
    )
    .addOption(numberOption('max-card-bytes', 'maximum size of a card or packet', 1024 * 1024, 1024, 2 ** 30))
    .addOption(
      numberOption(
        'wrong-keys-per-minute',
        'wrong keys per client address that are answered without delay; 0: no limit',
        10,
        0,
        1_000_000,
      ),
    )
    .addOption(originsOption())
    .addOption(numberOption('pool-size', 'maximum number of PostgreSQL connections', 10, 2, 1000))
    .addHelpText(
      'after',
      `
Set by environment variable only:
${environmentHelp()}

Example:
  $ cairn serve --port 9000 --database ./memory.db`,
    )
    .action(runServer);

  addMcp(cairn.command('mcp'));

  cairn
    .command('migrate')
    .description('update the database to the schema of this version')
    .addOption(databaseOption())
    .option('--restored', 'start a new epoch after a restore from a backup, which resets stream readers')
    .addHelpText('after', '\nExample:\n  $ cairn migrate --database postgres://db/cairn')
    .action(migrate);

  cairn
    .command('doctor')
    .description('check the whole store: structure, invariants, hashes, search index')
    .addOption(databaseOption())
    .option('--json', 'print one JSON object per check')
    .addHelpText('after', '\nExample:\n  $ cairn doctor --database ./memory.db')
    .action(doctor);

  cairn
    .command('clock')
    .description('recovery from a clock that ran ahead')
    .addHelpText('after', '\nExample:\n  $ cairn clock recover --database ./memory.db')
    .command('recover')
    .description('continue at the present time after a clock ran ahead')
    .addOption(databaseOption())
    .addHelpText(
      'after',
      `
Stop all servers and correct the clock first. Afterwards, older resume tokens fail with STREAM_RESET, and an as_of
within the time that was recorded twice fails with AMBIGUOUS_TIME.

Example:
  $ cairn clock recover --database ./memory.db`,
    )
    .action(recoverClock);

  addTenants(cairn.command('tenants').description('list and delete the tenants of a database'));

  cairn
    .command('reindex')
    .description('repair the search index from the content; servers may keep running')
    .addOption(databaseOption())
    .option('--tenant <tenant>', 'repair only this tenant (default: all tenants)')
    .addHelpText('after', '\nExample:\n  $ cairn reindex --database ./memory.db')
    .action(reindex);

  cairn
    .command('embed')
    .description('embed all content that has no vector yet')
    .addOption(databaseOption())
    .addHelpText(
      'after',
      `\nSet by environment variable only:\n${environmentHelp('CAIRN_EMBEDDER')}\n\nExample:\n  $ cairn embed --database ./memory.db`,
    )
    .action(embed);

  withStore(cairn.command('tail').description('print events as they happen'))
    .option('--after <token>', 'start after this event; 0: from the first one (default: new events only)')
    .option('--type <type>', 'print only this packet type; a trailing * matches a prefix')
    .option('--json', 'print whole packets as JSON, one per line')
    .addHelpText(
      'after',
      "\nExamples:\n  $ cairn tail --after 0\n  $ cairn tail --url http://127.0.0.1:8080 --type 'cairn.box.*'",
    )
    .action(tail);

  withStore(
    cairn
      .command('tree')
      .description('draw trajectories with their scopes, budgets, artifacts, notes, agents and executions'),
  )
    .argument('[trajectory_id]', 'draw only this trajectory and everything below it')
    .option('--ids', 'print ids as well')
    .addOption(
      new Option('--limit <number>', 'maximum number of trajectories').default(20).argParser(wholeNumber(1, 500)),
    )
    .addHelpText('after', '\nExamples:\n  $ cairn tree\n  $ cairn tree --ids --database ./memory.db')
    .action(tree);

  addDemo(cairn.command('demo'));

  addOperations(cairn, [...fileCommands, ...pauseCommands, ...dslCommands], words);
  return cairn;
}

function addTenants(tenants: Command): void {
  tenants.addHelpText('after', '\nExample:\n  $ cairn tenants list --database ./memory.db');
  tenants
    .command('list')
    .description('list the tenants and the lengths of their streams')
    .addOption(databaseOption())
    .option('--json', 'print the whole answer as JSON')
    .addHelpText('after', '\nExample:\n  $ cairn tenants list --database ./memory.db')
    .action(listTenants);
  tenants
    .command('delete')
    .description('forget everything of a tenant, keys included; only a receipt stays')
    .argument('<tenant>', 'the tenant')
    .addOption(databaseOption())
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  $ cairn tenants delete acme --database ./memory.db')
    .action(deleteTenant);
}

function onOneLine(text: string): string {
  const [first = '', ...rest] = text
    .trim()
    .replace(/^error: /, 'cairn: ')
    .split('\n');
  const hint = rest.join(' ').replace(/^\((.*)\)$/, ' $1');
  return `${first.replace(/\.$/, '')}.${hint} (--help shows how)`;
}

interface ServeFlags extends Settings {
  readonly host: string;
  readonly port: number;
  readonly maxBodyBytes: number;
  readonly maxCardBytes: number;
  readonly poolSize: number;
  readonly wrongKeysPerMinute: number;
  readonly allowedOrigins?: readonly string[];
}

async function runServer(flags: ServeFlags): Promise<void> {
  // Lazy import: no other command needs a server.
  const { serve } = await import('../http/index.js');
  const serving = await serve({
    database: flags.database,
    host: flags.host,
    port: flags.port,
    max_body_bytes: flags.maxBodyBytes,
    limits: { max_card_bytes: flags.maxCardBytes },
    pool_size: flags.poolSize,
    wrong_keys_per_minute: flags.wrongKeysPerMinute,
    ...(flags.allowedOrigins ? { allowed_origins: flags.allowedOrigins } : {}),
    ...modelSettings(),
    ...(await embedderOf()),
  });
  // Installed before the address is printed: its reader may send a signal at once.
  stopOnSignal(() =>
    serving.close().then(
      () => process.exit(0),
      (error) => fail(error, false),
    ),
  );
  const key = serving.open ? '' : ' -H "Authorization: Bearer $CAIRN_KEY"';
  const curl = (path: string, body: object) => `curl -X POST ${serving.url}/api/v1/${path}${key} \\
    -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
  console.log(`Cairn ${version} listens on ${serving.url}
  data       ${serving.location}
  reference  ${serving.url}/
  access     ${serving.open ? 'open to this machine (no keys in the store)' : 'by key'}
Try it:
  ${curl('remember', { text: 'Anna prefers green tea to coffee.' })}
  ${curl('recall', { query: 'What does Anna drink?' })}`);
}

function fail(error: unknown, debug: boolean): never {
  console.error(debug ? error : `cairn: ${lineOf(error)}`);
  process.exit(1);
}

function lineOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // It may quote what others stored.
  const line = plain(message.split('\n')[0]!);
  if (error instanceof CairnError)
    return `${line}${code === 'UNAUTHORIZED' ? ' (set it with --key or CAIRN_KEY)' : ''} (${code})`;
  if (code === 'EADDRINUSE') {
    const address = line.replace(/^listen EADDRINUSE: address already in use /, '');
    return `the address ${address} is in use: stop the process that listens there, or choose another port with --port`;
  }
  return `${line}${code === 'EACCES' ? ': not permitted' : ''} (--debug shows more)`;
}

export async function main(argv: string[]): Promise<void> {
  watchReader((error) => fail(error, argv.includes('--debug')));
  try {
    await program(argv.slice(2)).parseAsync(argv);
  } catch (error) {
    fail(error, argv.includes('--debug'));
  }
}
