/** `cairn checkpoints export|import` and `cairn executions export|import`. */
import type { Command } from 'commander';
import type { ImportOptions } from '../api/index.js';
import { type Settings, withApi, withStore } from './settings.js';
import { plain } from './terminal.js';

/** A command of a group; it replaces the generated command of the same name. */
export interface OwnCommand {
  readonly group: string;
  readonly verb: string;
  /** For the help; the first one is also that of the group if this is its first command. */
  readonly examples: readonly string[];
  readonly add: (command: Command) => void;
}

export const fileCommands: readonly OwnCommand[] = [
  {
    group: 'checkpoints',
    verb: 'export',
    examples: ['cairn checkpoints export cp-1 --dir ./checkpoints'],
    add: addExportCheckpoint,
  },
  {
    group: 'checkpoints',
    verb: 'import',
    examples: ['cairn checkpoints import checkpoints/cp-1.json', 'cairn checkpoints import ./checkpoints'],
    add: addImportCheckpoints,
  },
  {
    group: 'executions',
    verb: 'export',
    examples: ['cairn executions export run-1 --out run-1.json'],
    add: addExportExecution,
  },
  {
    group: 'executions',
    verb: 'import',
    examples: ['cairn executions import run-1.json --database ./other.db'],
    add: addImportExecution,
  },
];

const READS = { reads: true };

/** On demand, so that help and usage errors do not load the store. */
const files = () => import('../api/index.js');

function addExportCheckpoint(command: Command): void {
  withStore(command.description('Write a checkpoint to a file.'))
    .argument('<checkpoint_id>')
    .option('--dir <directory>', 'directory to write to', 'checkpoints')
    .option('--diff', 'include the changes since its parent')
    .action(async (id: string, options: Settings & { dir: string; diff?: boolean }) => {
      const to = { directory: options.dir, diff: options.diff === true };
      const { path, bytes } = await withApi(
        options,
        async (cairn) => (await files()).exportCheckpoint(cairn, id, to),
        READS,
      );
      console.log(`${plain(path)}: checkpoint ${plain(id)}, ${bytes} bytes`);
    });
}

function addImportCheckpoints(command: Command): void {
  withStore(command.description('Import a checkpoint file, or all checkpoint files of a directory.'))
    .argument('<file-or-directory>')
    .action(async (path: string, options: Settings) => {
      const { imported, present } = await withApi(options, async (cairn) =>
        (await files()).importCheckpoints(cairn, path, { progress: showProgress() }),
      );
      for (const id of imported) console.log(`imported checkpoint ${plain(id)}`);
      for (const id of present) console.log(`checkpoint ${plain(id)} already exists`);
      if (imported.length + present.length === 0) console.log(`${plain(path)} has no .json files`);
    });
}

function addExportExecution(command: Command): void {
  withStore(command.description('Write an execution with all its checkpoints and branches to one file.'))
    .argument('<execution_id>')
    .option('--out <file>', 'file to write to (default: stdout)')
    .action(async (id: string, options: Settings & { out?: string }) => {
      const { out } = options;
      if (out === undefined) {
        process.stdout.write(await withApi(options, async (cairn) => (await files()).executionText(cairn, id), READS));
        return;
      }
      const exported = await withApi(options, async (cairn) => (await files()).exportExecution(cairn, id, out), READS);
      const { path, bytes, checkpoints } = exported;
      console.log(`${plain(path)}: execution ${plain(id)}, ${checkpoints} checkpoint(s), ${bytes} bytes`);
    });
}

function addImportExecution(command: Command): void {
  withStore(command.description('Import an execution from an exported file.'))
    .argument('<file>')
    .action(async (file: string, options: Settings) => {
      const { execution_id, checkpoints } = await withApi(options, async (cairn) =>
        (await files()).importExecution(cairn, file),
      );
      console.log(`imported execution ${plain(execution_id)}, ${checkpoints} checkpoint(s)`);
    });
}

function showProgress(): NonNullable<ImportOptions['progress']> {
  let next = Date.now() + 1000;
  return ({ doing, done, total }) => {
    if (!process.stderr.isTTY || Date.now() < next) return;
    next = Date.now() + 1000;
    console.error(`${doing === 'check' ? 'checked' : 'imported'} ${done} of ${total}`);
  };
}
