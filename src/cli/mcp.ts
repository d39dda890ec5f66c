/** `cairn mcp`: an MCP server on stdio. */
import { type Command, Option } from 'commander';
import { uuid } from '../kernel/contract.js';
import { invalid } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { readerGone, stopOnSignal } from './reader.js';
import { openApi, type Settings, withStore } from './settings.js';

interface McpFlags extends Settings {
  readonly agent?: string;
  readonly trajectory?: string;
  readonly user?: string;
}

export function addMcp(command: Command): void {
  withStore(command.description('serve remember, recall, assemble and forget as MCP tools, on stdin and stdout'))
    .addOption(new Option('--agent <agent_id>', 'agent to act as (default: none)').env('CAIRN_AGENT'))
    .addOption(new Option('--user <user_id>', 'user to act for (default: none)').env('CAIRN_USER'))
    .addOption(
      new Option(
        '--trajectory <trajectory_id>',
        'trajectory for remember and assemble (default: one named memory)',
      ).env('CAIRN_TRAJECTORY'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ cairn mcp --database ~/memory.db
  $ cairn mcp --url http://127.0.0.1:8080
Several editors can use one file at once. docs/mcp.md shows the settings of common editors.`,
    )
    .action(runMcp);
}

async function runMcp(flags: McpFlags): Promise<void> {
  const { agent, trajectory, url, user } = flags;
  if (agent !== undefined && url !== undefined)
    throw invalid(
      '--agent works with a database only; with --url the key names the agent: create one with `cairn keys create --agent`',
    );
  if (trajectory !== undefined && !uuid.safeParse(trajectory).success)
    throw invalid(`--trajectory must be the UUID of a trajectory, not "${trajectory}"`);
  // Lazy import: no other command needs the MCP SDK.
  const { serveMcp } = await import('../mcp/index.js');
  const cairn = await openApi(flags, agent === undefined ? {} : { agent });
  try {
    const serving = await serveMcp({
      api: user === undefined ? cairn : cairn.for({ user }),
      version,
      defaults: trajectory === undefined ? {} : { trajectory_id: trajectory },
      input: process.stdin,
      output: process.stdout,
      // A closed output ends the server and needs no report.
      log: (line) => readerGone.aborted || console.error(`cairn mcp: ${line}`),
    });
    if (process.stdin.isTTY)
      console.error('cairn mcp: waiting for an MCP client on stdin; docs/mcp.md shows how to configure one');
    stopOnSignal(() => serving.close());
    await serving.closed;
  } finally {
    await cairn.close();
    // An open input would keep the process alive.
    process.stdin.destroy();
  }
}
