/** Export and import of checkpoints and executions as files, for a local store or a server. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BUNDLE_FORMAT, type Checkpoint, type Execution } from '../../checkpoints/contract.js';
import { bundleText, checkpointText, type Descendant, parentsFirst, readCheckpoint } from '../../checkpoints/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import type { Api } from '../api.js';
import { writeAtomically } from './atomic-file.js';
import { fileNameFor } from './file-names.js';

export interface ExportOptions {
  /** Created if missing; default: `checkpoints`. */
  readonly directory?: string;
  /** Include the changes since its parent. */
  readonly diff?: boolean;
}

export interface ExportedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Writes `<directory>/<id>.json` atomically. The same checkpoint always gives the same bytes. */
export async function exportCheckpoint(
  cairn: Pick<Api, 'checkpoints'>,
  checkpoint_id: string,
  { directory = 'checkpoints', diff }: ExportOptions = {},
): Promise<ExportedFile> {
  const checkpoint = await cairn.checkpoints.get({ checkpoint_id, ...(diff === undefined ? {} : { diff }) });
  return written(join(directory, `${fileNameFor(checkpoint.id)}.json`), checkpointText(checkpoint));
}

export interface ImportedCheckpoints {
  /** Ids, in the order of import. */
  readonly imported: readonly string[];
  readonly present: readonly string[];
}

export interface ImportOptions {
  /** Called after each file that is checked, and after each checkpoint that is imported. */
  readonly progress?: (step: { doing: 'check' | 'import'; done: number; total: number }) => void;
}

interface CheckpointFile extends Descendant {
  readonly file: string;
  readonly execution_id: string;
}

/**
 * Imports one file, or all `.json` files of a directory, of any supported version. Checks all before it writes the first,
 * and reads each again to write it, so that only one is in memory. Importing again changes nothing.
 */
export async function importCheckpoints(
  cairn: Pick<Api, 'checkpoints' | 'executions'>,
  path: string,
  { progress }: ImportOptions = {},
): Promise<ImportedCheckpoints> {
  const files = await filesAt(path);
  const found = new Map<string, CheckpointFile>();
  for (const [i, file] of files.entries()) {
    const checkpoint = checkpointOf(file, await readJson(file));
    const twin = found.get(checkpoint.id);
    if (twin) throw invalid(`${twin.file} and ${file} both have checkpoint ${checkpoint.id}: keep one of them`);
    found.set(checkpoint.id, {
      file,
      id: checkpoint.id,
      timestamp: checkpoint.timestamp,
      parent_id: checkpoint.parent?.checkpoint_id,
      execution_id: checkpoint.execution_id,
    });
    progress?.({ doing: 'check', done: i + 1, total: files.length });
  }
  const ordered = parentsFirst([...found.values()]);
  const known = await knownIds(cairn, new Set(ordered.map(({ execution_id }) => execution_id)));
  const imported: string[] = [];
  const present: string[] = [];
  for (const [i, { id, file }] of ordered.entries()) {
    const checkpoint = checkpointOf(file, await readJson(file));
    // Existing checkpoints are sent as well: the store checks whether they are the same.
    try {
      await cairn.checkpoints.import({ checkpoint: checkpoint as unknown as JsonObject });
    } catch (error) {
      throw withImported(named(file, error), imported);
    }
    (known.has(id) ? present : imported).push(id);
    progress?.({ doing: 'import', done: i + 1, total: ordered.length });
  }
  return { imported, present };
}

export async function exportExecution(
  cairn: Pick<Api, 'executions'>,
  execution_id: string,
  file: string,
): Promise<ExportedFile & { readonly checkpoints: number }> {
  const bundle = await cairn.executions.export({ execution_id });
  return { ...(await written(file, bundleText(bundle))), checkpoints: bundle.checkpoints.length };
}

export const executionText = async (cairn: Pick<Api, 'executions'>, execution_id: string): Promise<string> =>
  bundleText(await cairn.executions.export({ execution_id }));

/** Imports a file of `exportExecution`, atomically. */
export async function importExecution(cairn: Pick<Api, 'executions'>, file: string): Promise<Execution> {
  const bundle = (await readJson(file)) as JsonObject;
  return cairn.executions.import({ bundle }).catch((error: unknown) => {
    throw named(file, error);
  });
}

async function written(path: string, text: string): Promise<ExportedFile> {
  await writeAtomically(path, text);
  return { path, bytes: Buffer.byteLength(text) };
}

async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(refuseMissing(path));
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name));
}

/** Rethrows an error of the file system; a missing file by name. */
const refuseMissing = (path: string) => (error: NodeJS.ErrnoException) => {
  throw error.code === 'ENOENT' ? invalid(`there is no file or directory ${path}`) : error;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readJson(file: string): Promise<unknown> {
  const bytes = await readFile(file).catch(refuseMissing(file));
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new CairnError('INVALID_JSON', `${file} is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

function checkpointOf(file: string, value: unknown): Checkpoint {
  if ((value as { format?: unknown } | null)?.format === BUNDLE_FORMAT)
    throw invalid(`${file} is an execution, not a checkpoint: import it with \`cairn executions import\``);
  try {
    return readCheckpoint(value);
  } catch (error) {
    throw named(file, error);
  }
}

function named(file: string, error: unknown): unknown {
  if (!(error instanceof CairnError)) return error;
  return new CairnError(error.code, `${file}: ${error.message}`, { ...error.details, file }, error);
}

function withImported(error: unknown, imported: readonly string[]): unknown {
  if (!(error instanceof CairnError) || imported.length === 0) return error;
  const before = `${imported.length} ${imported.length === 1 ? 'was' : 'were'} imported before it`;
  return new CairnError(error.code, `${error.message} (${before})`, { ...error.details, imported }, error);
}

/** Ids of the checkpoints that executions already have. */
async function knownIds(cairn: Pick<Api, 'executions'>, executions: Set<string>): Promise<Set<string>> {
  const known = new Set<string>();
  for (const execution_id of executions) {
    try {
      const { nodes } = await cairn.executions.tree({ execution_id });
      for (const { checkpoint_id } of nodes) known.add(checkpoint_id);
    } catch (error) {
      if (!(error instanceof CairnError) || error.code !== 'EXECUTION_NOT_FOUND') throw error;
    }
  }
  return known;
}
