/** Checkpoint documents: reads every supported version, writes the current one. */
import type { z } from 'zod';
import { stableJson } from '../../kernel/contract.js';
import { CairnError, invalid, isObject, parseAs } from '../../kernel/index.js';
import { CHECKPOINT_VERSION, type Checkpoint, checkpoint } from './model.js';
import { checkpoint090, from090 } from './version-0-9-0.js';

/** Upgrades a document to the next version. Pure: the same file always gives the same checkpoint. */
interface Upgrade {
  readonly from: string;
  readonly upgrade: (value: unknown, what: string) => { readonly version: string };
}

/** Validates against the version that the file claims, so that an error names a field of the file. */
const step = <T>(from: string, schema: z.ZodType<T>, migrate: (old: T) => { readonly version: string }): Upgrade => ({
  from,
  upgrade: (value, what) => migrate(parseAs(schema, value, what)),
});

/** Oldest first. A new version adds the step from the one before it; older steps stay unchanged. */
const steps: readonly Upgrade[] = [step('0.9.0', checkpoint090, from090)];

export const CHECKPOINT_VERSIONS: readonly string[] = [...steps.map(({ from }) => from), CHECKPOINT_VERSION];

export function readCheckpoint(value: unknown): Checkpoint {
  if (!isObject(value)) throw invalid('a checkpoint must be a JSON object');
  checkVersion('checkpoint', value.version, CHECKPOINT_VERSIONS);
  const what = `checkpoint of version ${value.version as string}`;
  let read: unknown = value;
  for (const { from, upgrade } of steps) {
    if ((read as { version: string }).version === from) read = upgrade(read, what);
  }
  return parseAs(checkpoint, read, what);
}

export function checkVersion(noun: string, version: unknown, supported: readonly string[]): void {
  if (supported.some((known) => known === version)) return;
  const fault =
    version === undefined
      ? `the ${noun} has no \`version\``
      : `${noun} version ${JSON.stringify(version)?.slice(0, 100)} is not supported`;
  throw new CairnError('UNSUPPORTED_VERSION', `${fault}: supported versions are ${supported.join(', ')}`, {
    version,
    supported,
  });
}

/** Stable bytes, validated before they are written. */
export const checkpointText = (value: Checkpoint): string =>
  stableJson(checkpoint, parseAs(checkpoint, value, `checkpoint ${value.id}`));
