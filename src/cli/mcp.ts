/** `cairn mcp`: an MCP server over stdio, as editors start it. */
import { type Command, Option } from 'commander';
import { uuid } from '../kernel/contract.js';
import { invalid } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { readerGone } from './reader.js';
import { openApi, type Settings, withStore } from './settings.js';

interface McpFlags extends Settings {
  readonly agent?: string;
  readonly trajectory?: string;
}

export function addMcp(command: Command): void {
  withStore(command.description('serve remember, recall and assemble as MCP tools, on stdin and stdout'))
    .addOption(new Option('--agent <agent_id>', 'agent that calls are made as (default: none)').env('CAIRN_AGENT'))
    .addOption(
      new Option(
        '--trajectory <trajectory_id>',
        'default trajectory of remember and assemble (default: one called memory)',
      ).env('CAIRN_TRAJECTORY'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ cairn mcp --database ~/memory.db
  $ cairn mcp --url http://127.0.0.1:8080
Several editors may use one file at once. docs/mcp.md shows the settings of common editors.`,
    )
    .action(runMcp);
}

async function runMcp(flags: McpFlags): Promise<void> {
  const { agent, trajectory, url } = flags;
  if (agent !== undefined && url !== undefined)
    throw invalid(
      '--agent needs a database; with --url the key names the agent: create one with `cairn keys create --agent`',
    );
  if (trajectory !== undefined && !uuid.safeParse(trajectory).success)
    throw invalid(`--trajectory "${trajectory}" must be the id of a trajectory, a UUID`);
  // Lazy import: no other command needs it.
  const { serveMcp } = await import('../mcp/index.js');
  const cairn = await openApi(flags, agent === undefined ? {} : { agent });
  try {
    const serving = await serveMcp({
      api: cairn,
      version,
      defaults: trajectory === undefined ? {} : { trajectory_id: trajectory },
      input: process.stdin,
      output: process.stdout,
      // A closed output ends the server; it is not an error to report.
      log: (line) => readerGone.aborted || console.error(`cairn mcp: ${line}`),
    });
    if (process.stdin.isTTY)
      console.error('cairn mcp: waiting for an editor or agent on stdin; docs/mcp.md shows how to add it to one');
    let stopping = false;
    const stop = () => {
      // A second signal ends the process at once.
      if (stopping) process.exit(1);
      stopping = true;
      void serving.close();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    readerGone.addEventListener('abort', stop);
    await serving.closed;
  } finally {
    await cairn.close();
    // An open input would keep the process alive.
    process.stdin.destroy();
  }
}
