/** Creates boxes, with a base or without. */
import type { Tx } from '../../driver/index.js';
import { ownSegment, type Segment } from './entries.js';
import { type Base, type BoxRow, insertBox } from './store.js';

interface NewBox extends Pick<BoxRow, 'box_id' | 'agent_id' | 'metadata' | 'sent_hash' | 'length'> {
  readonly base?: Base;
  readonly forked?: { readonly box_id: string; readonly revision: number };
  readonly sealed_at?: number | null;
  readonly held_by?: string | null;
  readonly subject_ids?: string | null;
}

const NO_BASE: Base = {
  base_box_id: null,
  base_revision: null,
  base_first: null,
  base_position: null,
  base_length: null,
};

export async function makeBox(tx: Tx, box: NewBox, now: number): Promise<BoxRow> {
  const { box_id, agent_id, metadata, sent_hash, length, base = NO_BASE, forked, sealed_at = null } = box;
  // Positions of a fork continue behind those of its base, so that they rise along the chain.
  const first_position = base.base_position ?? 1;
  const row: BoxRow = {
    box_id,
    agent_id,
    metadata,
    sent_hash,
    length,
    revision: 1,
    first_position,
    next_position: first_position + length - (base.base_length ?? 0),
    base_until: null,
    forked_box_id: forked?.box_id ?? null,
    forked_revision: forked?.revision ?? null,
    sealed_at,
    held_by: box.held_by ?? null,
    subject_ids: box.subject_ids ?? null,
    ended_at: null,
    created_at: now,
    updated_at: now,
    ...base,
  };
  await insertBox(tx, row);
  return row;
}

/** The base of a fork of `source`. A source without own entries is skipped, so that chains have no empty links. */
function baseFor(source: BoxRow, own: Segment): Base {
  if (own.through !== own.before) {
    return {
      base_box_id: own.box_id,
      base_revision: own.revision,
      base_first: own.from,
      base_position: own.until,
      base_length: own.through,
    };
  }
  if (own.before === 0) return NO_BASE;
  const { base_box_id, base_revision, base_first, base_position, base_length } = source;
  return { base_box_id, base_revision, base_first, base_position, base_length };
}

/** Creates a box that starts with the entries of another at a revision, without copying them, and is about the same. */
export async function makeFork(
  tx: Tx,
  source: BoxRow,
  revision: number,
  box: Omit<NewBox, 'length' | 'base' | 'forked'>,
  now: number,
): Promise<BoxRow> {
  const own = await ownSegment(tx, source, revision);
  const forked = { box_id: source.box_id, revision };
  const { subject_ids } = source;
  return makeBox(tx, { subject_ids, ...box, length: own.through, forked, base: baseFor(source, own) }, now);
}
