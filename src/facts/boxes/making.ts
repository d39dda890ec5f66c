/** Makes boxes: a new row, on its own or on a base that it starts with. */
import type { Tx } from '../../driver/index.js';
import { ownSegment, type Segment } from './entries.js';
import { type Base, type BoxRow, insertBox } from './store.js';

export interface NewBox {
  readonly box_id: string;
  readonly agent_id: string | null;
  /** Canonical JSON. */
  readonly metadata: string;
  readonly sent_hash: string | null;
  readonly length: number;
  readonly base?: Base;
  readonly forked?: { readonly box_id: string; readonly revision: number };
  readonly sealed_at?: number;
  readonly held_by?: string;
}

const NO_BASE: Base = {
  base_box_id: null,
  base_revision: null,
  base_first: null,
  base_position: null,
  base_length: null,
};

export async function makeBox(tx: Tx, box: NewBox, now: number): Promise<BoxRow> {
  const base = box.base ?? NO_BASE;
  // A fork goes on behind the last position of its base, so that positions rise along it.
  const first = base.base_position ?? 1;
  const row: BoxRow = {
    ...base,
    box_id: box.box_id,
    agent_id: box.agent_id,
    revision: 1,
    length: box.length,
    first_position: first,
    next_position: first + box.length - (base.base_length ?? 0),
    base_until: null,
    forked_box_id: box.forked?.box_id ?? null,
    forked_revision: box.forked?.revision ?? null,
    sealed_at: box.sealed_at ?? null,
    held_by: box.held_by ?? null,
    ended_at: null,
    metadata: box.metadata,
    sent_hash: box.sent_hash,
    created_at: now,
    updated_at: now,
  };
  await insertBox(tx, row);
  return row;
}

/** What a fork starts with. A box that adds nothing of its own is passed over, so that no view goes through it. */
function baseFor(source: BoxRow, own: Segment): Base {
  if (own.through === own.before) return own.before === 0 ? NO_BASE : baseOf(source);
  return {
    base_box_id: own.box_id,
    base_revision: own.revision,
    base_first: own.from,
    base_position: own.until,
    base_length: own.through,
  };
}

const baseOf = ({ base_box_id, base_revision, base_first, base_position, base_length }: Base): Base => ({
  base_box_id,
  base_revision,
  base_first,
  base_position,
  base_length,
});

/** Makes a box that starts with what another held at a revision, without copying it. */
export async function makeFork(
  tx: Tx,
  source: BoxRow,
  revision: number,
  box: Omit<NewBox, 'length' | 'base' | 'forked'>,
  now: number,
): Promise<BoxRow> {
  const own = await ownSegment(tx, source, revision);
  const forked = { box_id: source.box_id, revision };
  return makeBox(tx, { ...box, length: own.through, forked, base: baseFor(source, own) }, now);
}
