/** The command `cairn`. */
import { Command, Option } from 'commander';
import { DEFAULT_HOST, DEFAULT_PORT } from '../http/contract.js';
import { CairnError } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { addDemo } from './demo.js';
import { fileCommands } from './file-commands.js';
import { doctor, embed, migrate, recoverClock, reindex } from './maintenance.js';
import { addMcp } from './mcp.js';
import { addOperations } from './operations.js';
import { readerGone, watchReader } from './reader.js';
import { databaseOption, embedderOf, environmentHelp, modelSettings, wholeNumber, withStore } from './settings.js';
import { addShorthands } from './shorthands.js';
import { tail } from './tail.js';
import { tree } from './tree.js';

/** All commands, ready to parse; with the words of a command line, only the commands that these name. */
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
  $ cairn recall "what does Anna drink"           # prints passages, the best first
  $ cairn serve                                   # http://127.0.0.1:8080 on ./cairn.db
  $ cairn serve --database postgres://db/cairn    # the same on PostgreSQL
  $ cairn keys create --tenant acme --role admin  # from now on every request needs a key
  $ cairn demo                                    # an example run, in ./cairn-demo.db
  $ cairn mcp                                     # tools for your editor, over MCP
  $ cairn tail                                    # prints events as they happen
  $ cairn doctor                                  # checks the whole store`,
    );

  addShorthands(cairn, words);

  cairn
    .command('serve')
    .description('serve the HTTP API')
    .addOption(databaseOption())
    .addOption(new Option('--host <address>', 'address to listen on').env('CAIRN_HOST').default(DEFAULT_HOST))
    .addOption(
      new Option('--port <number>', 'port to listen on')
        .env('CAIRN_PORT')
        .default(DEFAULT_PORT)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option(
        '--max-body-bytes <number>',
        'largest request body, in bytes; operations that carry a whole state take eight times that',
      )
        .env('CAIRN_MAX_BODY_BYTES')
        .default(8 * 1024 * 1024)
        .argParser(wholeNumber(1024, 2 ** 30)),
    )
    .addOption(
      new Option('--max-card-bytes <number>', 'largest card or packet, in bytes')
        .env('CAIRN_MAX_CARD_BYTES')
        .default(1024 * 1024)
        .argParser(wholeNumber(1024, 2 ** 30)),
    )
    .addOption(
      new Option(
        '--wrong-keys-per-minute <number>',
        'wrong keys per client address that are answered without delay; 0 for no limit',
      )
        .env('CAIRN_WRONG_KEYS_PER_MINUTE')
        .default(10)
        .argParser(wholeNumber(0, 1_000_000)),
    )
    .addOption(
      new Option('--pool-size <number>', 'maximum connections to PostgreSQL')
        .env('CAIRN_POOL_SIZE')
        .default(10)
        .argParser(wholeNumber(2, 1000)),
    )
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
    .option('--restored', 'after a restore from a backup: starts a new epoch, which resets stream readers')
    .addHelpText('after', '\nExample:\n  $ cairn migrate --database postgres://db/cairn')
    .action(migrate);

  cairn
    .command('doctor')
    .description('check the whole store: structure, invariants, hashes, search index')
    .addOption(databaseOption())
    .option('--json', 'one JSON object per check')
    .addHelpText('after', '\nExample:\n  $ cairn doctor --database ./memory.db')
    .action(doctor);

  cairn
    .command('clock')
    .description('recover from a clock that ran ahead')
    .addHelpText('after', '\nExample:\n  $ cairn clock recover --database ./memory.db')
    .command('recover')
    .description('continue at the present time after a clock ran ahead')
    .addOption(databaseOption())
    .addHelpText(
      'after',
      `
Stop all servers and set the clock right first. Afterwards old resume tokens are refused with STREAM_RESET,
and an as_of within the time that was recorded twice with AMBIGUOUS_TIME.

Example:
  $ cairn clock recover --database ./memory.db`,
    )
    .action(recoverClock);

  cairn
    .command('reindex')
    .description('repair the search index from the content; servers may keep running')
    .addOption(databaseOption())
    .option('--tenant <tenant>', 'only this tenant (default: all)')
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
    .option('--after <token>', 'start after this event; 0 for all of history (default: new events only)')
    .option('--type <type>', 'only this packet type; a trailing * matches a prefix')
    .option('--json', 'print whole packets as JSON, one per line')
    .addHelpText(
      'after',
      "\nExamples:\n  $ cairn tail --after 0\n  $ cairn tail --url http://127.0.0.1:8080 --type 'cairn.box.*'",
    )
    .action(tail);

  withStore(
    cairn
      .command('tree')
      .description('draw trajectories with their scopes, budgets, artifacts, notes, agents and runs'),
  )
    .argument('[trajectory_id]', 'only this trajectory and everything below it')
    .option('--ids', 'print ids as well')
    .addOption(
      new Option('--limit <number>', 'number of trajectories, newest first').default(20).argParser(wholeNumber(1, 500)),
    )
    .addHelpText('after', '\nExamples:\n  $ cairn tree\n  $ cairn tree --ids --database ./memory.db')
    .action(tree);

  addDemo(cairn.command('demo'));

  addOperations(cairn, fileCommands, words);
  return cairn;
}

/** Joins a parser error of several lines to one line, like every other error. */
function onOneLine(text: string): string {
  const [first = '', ...rest] = text
    .trim()
    .replace(/^error: /, 'cairn: ')
    .split('\n');
  const hint = rest.join(' ').replace(/^\((.*)\)$/, ' $1');
  return `${first.replace(/\.$/, '')}.${hint} (--help shows how)`;
}

interface ServeFlags {
  readonly database: string;
  readonly host: string;
  readonly port: number;
  readonly maxBodyBytes: number;
  readonly maxCardBytes: number;
  readonly poolSize: number;
  readonly wrongKeysPerMinute: number;
}

async function runServer(flags: ServeFlags): Promise<void> {
  const { database, host, port, maxBodyBytes, maxCardBytes, poolSize, wrongKeysPerMinute } = flags;
  // Lazy import: no other command needs a server.
  const { serve } = await import('../http/index.js');
  const serving = await serve({
    database,
    host,
    port,
    max_body_bytes: maxBodyBytes,
    limits: { max_card_bytes: maxCardBytes },
    pool_size: poolSize,
    wrong_keys_per_minute: wrongKeysPerMinute,
    ...modelSettings(),
    ...(await embedderOf()),
  });
  // Installed before the address is printed: a reader of it may send a signal at once.
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    serving.close().then(
      () => process.exit(0),
      (error) => fail(error, false),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Nobody can read the address any more.
  readerGone.addEventListener('abort', stop);
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

/** Prints an error as one line; with --debug, with its stack trace. */
function fail(error: unknown, debug: boolean): never {
  const { code, message } = error as NodeJS.ErrnoException;
  const line =
    code === 'EADDRINUSE'
      ? `${message.replace(/^listen EADDRINUSE: address already in use /, 'the address ')} is in use: stop what listens there, or choose another with --port`
      : code === 'EACCES'
        ? `${message}: not permitted`
        : error instanceof CairnError
          ? `${message}${error.code === 'UNAUTHORIZED' ? ' (here by --key or CAIRN_KEY)' : ''} (${error.code})`
          : message;
  console.error(
    debug ? error : `cairn: ${line.split('\n')[0]}${error instanceof CairnError ? '' : ' (--debug shows more)'}`,
  );
  process.exit(1);
}

export async function main(argv: string[]): Promise<void> {
  watchReader((error) => fail(error, argv.includes('--debug')));
  try {
    await program(argv.slice(2)).parseAsync(argv);
  } catch (error) {
    fail(error, argv.includes('--debug'));
  }
}
