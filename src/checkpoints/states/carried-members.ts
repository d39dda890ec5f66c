/** What a document brought along that has no column: members that Cairn does not know, and the diff it came with. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { type Checkpoint, checkpoint, checkpointMetadata, parentLink, unknownMembers } from '../checkpoints/model.js';
import { type Bundle, bundle } from '../executions/model.js';

/** Of a checkpoint, by the part of the document that they are in. */
interface Carried {
  readonly checkpoint?: JsonObject;
  readonly metadata?: JsonObject;
  readonly parent?: JsonObject;
  readonly diff?: Checkpoint['diff'];
}

type Document = Pick<Checkpoint, 'metadata' | 'parent' | 'diff'>;

/** As text, to be stored; null where there is nothing. */
export function carriedBy(document: Document): string | null {
  const { metadata, parent, diff } = document;
  return textOf({
    checkpoint: unknownMembers(checkpoint, document),
    metadata: unknownMembers(checkpointMetadata, metadata),
    parent: parent && unknownMembers(parentLink, parent),
    diff,
  });
}

/** A checkpoint as it was taken in. */
export function withCarried<T extends Document>(shown: T, carried: string | null): T {
  if (carried === null) return shown;
  const { checkpoint: others, metadata, parent, diff } = JSON.parse(carried) as Carried;
  return {
    ...others,
    ...shown,
    metadata: { ...metadata, ...shown.metadata },
    ...(shown.parent === undefined ? {} : { parent: { ...parent, ...shown.parent } }),
    ...(diff === undefined ? {} : { diff }),
  };
}

/** Without the diff, which follows from the states: a checkpoint is the same with another, or none. */
export function sameCarried(a: string | null, b: string | null): boolean {
  const withoutDiff = (text: string | null) => {
    const { diff: _, ...others } = JSON.parse(text ?? '{}') as Carried;
    return canonical(others as Json);
  };
  return a === b || withoutDiff(a) === withoutDiff(b);
}

interface CarriedByBundle {
  readonly bundle?: JsonObject;
  readonly execution?: JsonObject;
}

export const carriedByBundle = (document: Bundle): string | null =>
  textOf({
    bundle: unknownMembers(bundle, document),
    execution: unknownMembers(bundle.shape.execution, document.execution),
  });

export function bundleWithCarried(made: Bundle, carried: string | null): Bundle {
  if (carried === null) return made;
  const { bundle: others, execution } = JSON.parse(carried) as CarriedByBundle;
  return { ...others, ...made, execution: { ...execution, ...made.execution } };
}

function textOf(parts: Readonly<Record<string, unknown>>): string | null {
  const found = Object.entries(parts).filter(([, part]) => part !== undefined);
  return found.length === 0 ? null : canonical(Object.fromEntries(found) as Json);
}
