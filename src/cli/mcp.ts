/** `cairn mcp`: the memory as an MCP server over stdio, as editors start it. */
import { type Command, Option } from 'commander';
import { uuid } from '../kernel/contract.js';
import { CairnError } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { readerGone } from './reader.js';
import { openApi, type Settings, withStore } from './settings.js';

interface McpFlags extends Settings {
  readonly agent?: string;
  readonly trajectory?: string;
}

export function addMcp(command: Command): void {
  withStore(command.description('serve the memory to an editor or agent, over MCP on stdin and stdout'))
    .addOption(new Option('--agent <agent_id>', 'the agent that calls are made as').env('CAIRN_AGENT'))
    .addOption(
      new Option(
        '--trajectory <trajectory_id>',
        'the task that what is remembered belongs to, unless a call names another',
      ).env('CAIRN_TRAJECTORY'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ cairn mcp --database ~/memory.db
  $ cairn mcp --url http://127.0.0.1:8080
Several editors may use one file at once. docs/mcp.md has the settings for each.`,
    )
    .action(runMcp);
}

async function runMcp(flags: McpFlags): Promise<void> {
  const { agent, trajectory, url } = flags;
  if (agent !== undefined && url !== undefined)
    throw new CairnError(
      'INVALID_INPUT',
      '--agent is for a database: a server goes by the key, and `cairn keys create --agent` makes one',
    );
  if (trajectory !== undefined && !uuid.safeParse(trajectory).success)
    throw new CairnError('INVALID_INPUT', `--trajectory "${trajectory}" is no id of a trajectory`);
  // Here, since no other command needs it.
  const { serveMcp } = await import('../mcp/serve.js');
  const cairn = await openApi(flags, agent === undefined ? {} : { agent });
  try {
    const serving = await serveMcp({
      api: cairn,
      version,
      defaults: trajectory === undefined ? {} : { trajectory_id: trajectory },
      input: process.stdin,
      output: process.stdout,
      // That nobody reads is the end, not an error to report.
      log: (line) => readerGone.aborted || console.error(`cairn mcp: ${line}`),
    });
    if (process.stdin.isTTY)
      console.error(
        'cairn mcp: waits for an editor or agent on stdin; docs/mcp.md says how to add it to one',
      );
    let stopping = false;
    const stop = () => {
      // Who asks twice does not want to wait.
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
    // Otherwise an open input keeps the process.
    process.stdin.destroy();
  }
}
