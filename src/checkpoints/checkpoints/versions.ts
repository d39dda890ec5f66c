/** Reads a portable checkpoint of any supported version: each older one has a function to the next. */
import type { z } from 'zod';
import { CairnError, invalid, parseAs } from '../../kernel/index.js';
import { CHECKPOINT_VERSION, type Checkpoint, checkpoint } from './model.js';
import { checkpoint090, from090 } from './version-0-9-0.js';

/** Gives a checkpoint of the next version. It is pure: the same file is always read as the same checkpoint. */
interface Step {
  readonly from: string;
  readonly upgrade: (value: unknown, what: string) => { readonly version: string };
}

/** Checked as what it says it is, so that a refusal names a field of the file and not one of a later version. */
const step = <T>(from: string, schema: z.ZodType<T>, migrate: (old: T) => { readonly version: string }): Step => ({
  from,
  upgrade: (value, what) => migrate(parseAs(schema, value, what)),
});

/** Oldest first. A new version adds the step from the one before it; the older steps stay as they are. */
const steps: readonly Step[] = [step('0.9.0', checkpoint090, from090)];

export const CHECKPOINT_VERSIONS: readonly string[] = [...steps.map(({ from }) => from), CHECKPOINT_VERSION];

export function readCheckpoint(value: unknown): Checkpoint {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('a checkpoint is a JSON object');
  }
  const { version } = value as { version?: unknown };
  if (!CHECKPOINT_VERSIONS.some((known) => known === version)) throw unsupported(version);
  const what = `checkpoint of version ${version as string}`;
  let read: unknown = value;
  for (const { from, upgrade } of steps) {
    if ((read as { version: string }).version === from) read = upgrade(read, what);
  }
  return parseAs(checkpoint, read, what);
}

function unsupported(version: unknown): CairnError {
  const known = CHECKPOINT_VERSIONS.join(', ');
  const what =
    version === undefined
      ? 'the checkpoint names no version'
      : `checkpoints of version ${JSON.stringify(version)?.slice(0, 100)} cannot be read`;
  return new CairnError('UNSUPPORTED_VERSION', `${what}: those that can are ${known}`, {
    version,
    supported: CHECKPOINT_VERSIONS,
  });
}
