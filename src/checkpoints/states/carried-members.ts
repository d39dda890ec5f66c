/** Members of a document without a column: those that Cairn does not know, and the diff that it came with. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import {
  type Checkpoint,
  checkpoint,
  checkpointMetadata,
  parentLink,
  presentMembers,
  unknownMembers,
} from '../checkpoints/model.js';
import { type Bundle, bundle } from '../executions/model.js';

/** By the part of the document that they are in. */
interface Carried {
  readonly checkpoint?: JsonObject;
  readonly metadata?: JsonObject;
  readonly parent?: JsonObject;
  readonly diff?: Checkpoint['diff'];
}

type Document = Pick<Checkpoint, 'metadata' | 'parent' | 'diff'>;

/** As JSON text; null if there are none. */
export function carriedBy(document: Document): string | null {
  const { metadata, parent, diff } = document;
  return textOf({
    checkpoint: unknownMembers(checkpoint, document),
    metadata: unknownMembers(checkpointMetadata, metadata),
    parent: parent && unknownMembers(parentLink, parent),
    diff,
  });
}

/** A checkpoint as it was imported. */
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

/** Compares without the diff, which follows from the states. */
export function sameCarried(a: string | null, b: string | null): boolean {
  const withoutDiff = (text: string | null) => {
    const { diff: _, ...others } = JSON.parse(text ?? '{}') as Carried;
    return canonical(others as Json);
  };
  return a === b || withoutDiff(a) === withoutDiff(b);
}

export const carriedByBundle = (document: Bundle): string | null =>
  textOf({
    bundle: unknownMembers(bundle, document),
    execution: unknownMembers(bundle.shape.execution, document.execution),
  });

export function bundleWithCarried(exported: Bundle, carried: string | null): Bundle {
  if (carried === null) return exported;
  const { bundle: others, execution } = JSON.parse(carried) as { bundle?: JsonObject; execution?: JsonObject };
  return { ...others, ...exported, execution: { ...execution, ...exported.execution } };
}

function textOf(parts: Readonly<Record<string, unknown>>): string | null {
  const found = presentMembers(parts);
  return Object.keys(found).length === 0 ? null : canonical(found as Json);
}
