/** Checkpoints and whole executions as files: out of a store and into one, in process or through a server. */
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
  /** `checkpoints` unless given; made if there is none. */
  readonly directory?: string;
  /** With what changed since its parent. */
  readonly diff?: boolean;
}

export interface ExportedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Writes `<directory>/<id>.json`, whole or not at all. The same checkpoint always gives the same bytes. */
export async function exportCheckpoint(
  cairn: Pick<Api, 'checkpoints'>,
  checkpoint_id: string,
  { directory = 'checkpoints', diff }: ExportOptions = {},
): Promise<ExportedFile> {
  const checkpoint = await cairn.checkpoints.get({ checkpoint_id, ...(diff === undefined ? {} : { diff }) });
  return written(join(directory, `${fileNameFor(checkpoint.id)}.json`), checkpointText(checkpoint));
}

export interface ImportedCheckpoints {
  /** Ids, in the order in which they were taken in. */
  readonly imported: readonly string[];
  readonly present: readonly string[];
}

export interface ImportOptions {
  /** Called after each checkpoint, and while files are checked before that. */
  readonly progress?: (step: { doing: 'check' | 'import'; done: number; total: number }) => void;
}

interface Found extends Descendant {
  readonly file: string;
  readonly execution_id: string;
}

/**
 * Takes in one file, or all `.json` files of a directory, of any supported version. All are checked before the first is
 * written, and read again to be written, so that only one of them is in memory. Importing again changes nothing.
 */
export async function importCheckpoints(
  cairn: Pick<Api, 'checkpoints' | 'executions'>,
  path: string,
  { progress }: ImportOptions = {},
): Promise<ImportedCheckpoints> {
  const files = await filesAt(path);
  const found = new Map<string, Found>();
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
    // What is there already is sent as well: the store says whether it is the same.
    await inFile(file, () => cairn.checkpoints.import({ checkpoint: checkpoint as unknown as JsonObject })).catch(
      (error) => {
        throw withDone(error, imported);
      },
    );
    (known.has(id) ? present : imported).push(id);
    progress?.({ doing: 'import', done: i + 1, total: ordered.length });
  }
  return { imported, present };
}

/** Writes a whole execution with all its branches into one file. */
export async function exportExecution(
  cairn: Pick<Api, 'executions'>,
  execution_id: string,
  file: string,
): Promise<ExportedFile & { readonly checkpoints: number }> {
  const bundle = await cairn.executions.export({ execution_id });
  return { ...(await written(file, bundleText(bundle))), checkpoints: bundle.checkpoints.length };
}

/** The text of such a file. */
export const executionText = async (cairn: Pick<Api, 'executions'>, execution_id: string): Promise<string> =>
  bundleText(await cairn.executions.export({ execution_id }));

/** Takes in what `exportExecution` wrote, as a whole or not at all. */
export async function importExecution(cairn: Pick<Api, 'executions'>, file: string): Promise<Execution> {
  const bundle = await readJson(file);
  return inFile(file, () => cairn.executions.import({ bundle: bundle as JsonObject }));
}

async function written(path: string, text: string): Promise<ExportedFile> {
  await writeAtomically(path, text);
  return { path, bytes: Buffer.byteLength(text) };
}

async function filesAt(path: string): Promise<string[]> {
  const there = await orMissing(path, () => stat(path));
  if (!there.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name));
}

async function orMissing<T>(path: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw invalid(`there is no file or directory ${path}`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readJson(file: string): Promise<unknown> {
  const bytes = await orMissing(file, () => readFile(file));
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new CairnError('INVALID_JSON', `${file} is not JSON in UTF-8: ${(error as Error).message}`);
  }
}

function checkpointOf(file: string, value: unknown): Checkpoint {
  if ((value as { format?: unknown } | null)?.format === BUNDLE_FORMAT) {
    throw invalid(`${file} is a whole execution, not a checkpoint: import it as one (cairn executions import)`);
  }
  try {
    return readCheckpoint(value);
  } catch (error) {
    throw named(file, error);
  }
}

async function inFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw named(file, error);
  }
}

/** The same refusal, with the file that it is about. */
function named(file: string, error: unknown): unknown {
  if (!(error instanceof CairnError)) return error;
  return new CairnError(error.code, `${file}: ${error.message}`, { ...error.details, file }, error);
}

function withDone(error: unknown, imported: readonly string[]): unknown {
  if (!(error instanceof CairnError) || imported.length === 0) return error;
  const before = `${imported.length} ${imported.length === 1 ? 'was' : 'were'} imported before it`;
  return new CairnError(error.code, `${error.message} (${before})`, { ...error.details, imported }, error);
}

/** Of each execution, which checkpoints there are already. */
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
