/** Use cases that change boxes: create, append, save, seal, fork, grant. */

import { listToText, type Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  type Change,
  change,
  equalsAnswer,
  subjectsOf,
  type Work,
} from '../../engine/index.js';
import { isForeign, seesAll } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { refuseUnseen } from '../cards/access.js';
import { takeSealTime } from '../cards/lifetime.js';
import { alreadyExists, checkSize } from '../cards/rules.js';
import { knownCards } from '../cards/store.js';
import { openBox, openBoxLocked, ownerOf, permitted } from './access.js';
import { refuseFixed, requireAll } from './appending.js';
import { boxes as operations } from './contract.js';
import { makeBox, makeFork } from './creation.js';
import {
  entriesAfter,
  insertEntries,
  presentCards,
  readAppendState,
  removeEntriesFrom,
  segmentsOf,
} from './entries.js';
import type { Box, Grant } from './model.js';
import { type BoxRow, findBox, type GrantRow, lockBox, putGrant, removeGrant, sealBox, updateBox } from './store.js';
import { describe, reached, show, toGrant } from './views.js';

/** Recognises the same request again; only an id that the client chose can be sent again. */
const sentHash = (id: string | undefined, input: object): string | null =>
  id === undefined ? null : sha256(canonical(input as Json));

/** A changed box, with its card ids if the change knows them all. */
interface Changed {
  readonly row: BoxRow;
  readonly card_ids?: string[];
}

/** A change that answers with a box. Reads the card ids, up to 10,000, after the commit, as of the row that it wrote. */
async function changeBox(call: Call, what: Pick<Change<Changed>, 'input' | 'bytes' | 'work'>): Promise<Box> {
  const { row, card_ids } = await change<Changed>(call, {
    ...what,
    remember: (answer) => answer.row.box_id,
    again: async (query, kept) => ({ row: await openBox(call, query, kept as string, 'read') }),
  });
  if (card_ids !== undefined) return { ...describe(call, row), card_ids, next_cursor: null };
  return call.driver.snapshot(call.tenant, (query) => show(call, query, row));
}

/** Returns the existing box of this id, if the same owner created it by the same request. */
async function sameBox(
  call: Call,
  row: BoxRow,
  sent: string | null,
  agent_id: string | null,
  isAnswer: () => Promise<boolean> = async () => false,
): Promise<Changed> {
  if (isForeign(call, row)) throw alreadyExists('box', row.box_id);
  if (row.agent_id === agent_id && (row.sent_hash === sent || (await isAnswer()))) return { row };
  throw alreadyExists('box', row.box_id);
}

function metadataText(call: Call, metadata: JsonObject | undefined): string {
  const text = canonical(metadata ?? {});
  checkSize('the metadata', Buffer.byteLength(text), call.limits);
  return text;
}

export async function create(call: Call, input: In<'boxes.create'>): Promise<Box> {
  const agent_id = ownerOf(call, input.agent_id);
  const card_ids = [...new Set(input.card_ids)];
  const sent_hash = sentHash(input.box_id, input);
  const metadata = metadataText(call, input.metadata);
  const subject_ids = listToText(subjectsOf(call, input.subject_ids));
  return changeBox(call, {
    input,
    bytes: metadata.length,
    work: async (work) => {
      const { tx, now } = work;
      const box_id = input.box_id ?? newId();
      if (input.box_id !== undefined) {
        const existing = await findBox(tx, box_id);
        const isAnswer = async (row: BoxRow) => equalsAnswer(operations.create.input, await show(call, tx, row), input);
        if (existing) return sameBox(call, existing, sent_hash, agent_id, () => isAnswer(existing));
      }
      const known = card_ids.length === 0 ? undefined : await knownCards(tx, card_ids, now);
      requireAll(card_ids, (id) => known!.has(id));
      await refuseUnseen(call, tx, card_ids);
      const row = await makeBox(
        tx,
        { box_id, agent_id, subject_ids, metadata, sent_hash, length: card_ids.length },
        now,
      );
      await insertEntries(tx, box_id, { position: 1, behind: 0, revision: 1 }, card_ids);
      appendEvent(work, 'cairn.box.created', { type: 'box', id: box_id }, { length: card_ids.length });
      return { row, card_ids };
    },
  });
}

export async function save(call: Call, input: In<'boxes.save'>): Promise<Box> {
  const wanted = [...new Set(input.card_ids)];
  return changeBox(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const existing = await lockBox(tx, input.box_id);
      const isNew = existing === undefined && input.revision === 0;
      const allowed = isNew ? undefined : await permitted(call, tx, input.box_id, existing, 'write');
      if (allowed) refuseFixed(allowed);
      const before = allowed?.revision ?? 0;
      if (input.revision !== before) {
        throw new CairnError(
          'CONCURRENT_MODIFICATION',
          `box ${input.box_id} is at revision ${before}, not ${input.revision}: load it again and retry`,
          { revision: before },
        );
      }
      const agent_id = ownerOf(call, undefined);
      const subject_ids = listToText(subjectsOf(call, []));
      refuseOther(input, allowed ?? { agent_id, metadata: '{}', subject_ids });
      const empty = { box_id: input.box_id, agent_id, subject_ids, metadata: '{}', sent_hash: null, length: 0 };
      const box = allowed ?? (await makeBox(tx, empty, now));
      await refuseUnseenNew(work, box, wanted);
      const saved = await replaceEntries(tx, box, wanted, isNew, now);
      const { revision, length } = saved;
      if (saved !== box) appendEvent(work, 'cairn.box.saved', { type: 'box', id: box.box_id }, { revision, length });
      return { row: saved, card_ids: wanted };
    },
  });
}

/** Refuses fields that a save would not change: a loaded box may be sent back with other cards only. */
function refuseOther(input: In<'boxes.save'>, box: Pick<BoxRow, 'agent_id' | 'metadata' | 'subject_ids'>): void {
  const { box_id, agent_id, metadata, subject_ids } = input;
  const other = [
    ...(agent_id != null && agent_id !== box.agent_id ? ['agent_id'] : []),
    ...(subject_ids !== undefined && listToText(subject_ids) !== box.subject_ids ? ['subject_ids'] : []),
    ...(metadata !== undefined && canonical(metadata) !== box.metadata ? ['metadata'] : []),
  ];
  if (other.length === 0) return;
  throw invalid(
    `${other.join(', ')}: box ${box_id} has another, and a save changes only its cards: leave it out, or create a new box`,
  );
}

/** Refuses cards that the agent may not read, except those that the box has. */
async function refuseUnseenNew({ call, tx }: Work, box: BoxRow, wanted: readonly string[]): Promise<void> {
  if (seesAll(call)) return;
  const present = await presentCards(tx, await segmentsOf(tx, box), wanted);
  const added = wanted.filter((id) => !present.has(id));
  await refuseUnseen(call, tx, added);
}

/** Replaces the entries of a locked box: keeps the common prefix, marks the rest as removed, appends the new ones. */
export async function replaceEntries(
  tx: Tx,
  box: BoxRow,
  wanted: readonly string[],
  fresh: boolean,
  now: number,
): Promise<BoxRow> {
  const segments = await segmentsOf(tx, box);
  const current = await entriesAfter(tx, segments, { after: 0, limit: wanted.length + 1 });
  let kept = 0;
  while (kept < wanted.length && current[kept]?.card_id === wanted[kept]) kept++;
  if (kept === wanted.length && kept === box.length && !fresh) return box;
  // readAppendState for own entries: a box that is saved often has many removed entries of a card.
  const { entered, known } = await readAppendState(tx, box.box_id, wanted, now);
  const inherited = await presentCards(tx, segments.slice(0, -1), wanted);
  requireAll(wanted, (id) => known.has(id) || entered.has(id) || inherited.has(id));
  const revision = fresh ? 1 : box.revision + 1;
  const own = segments.at(-1)!;
  // A fork that no longer starts with all of its base loses the base from this revision on.
  const cutOff = kept < own.before;
  if (cutOff) kept = 0;
  // With more removed entries than the list is long, it is rewritten: reads scan over removed entries, so a box that is
  // saved often must not collect them behind a first card that stays.
  else if (box.next_position - own.from - (kept - own.before) > wanted.length) kept = own.before;
  const isRewritten = cutOff || kept === own.before;
  const firstRemoved = isRewritten ? own.from : (current[kept]?.position ?? box.next_position);
  await removeEntriesFrom(tx, box.box_id, firstRemoved, revision);
  const added = wanted.slice(kept);
  await insertEntries(tx, box.box_id, { position: box.next_position, behind: kept, revision }, added);
  const change = {
    revision,
    length: wanted.length,
    first_position: isRewritten ? box.next_position : box.first_position,
    next_position: box.next_position + added.length,
    base_until: cutOff ? revision : box.base_until,
    updated_at: now,
  };
  await updateBox(tx, box.box_id, change);
  return { ...box, ...change };
}

export async function seal(call: Call, input: In<'boxes.seal'>): Promise<Box> {
  return changeBox(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const box = await openBoxLocked(work, input.box_id, 'write');
      if (box.sealed_at !== null) return { row: box };
      refuseFixed(box);
      const sealed_at = await takeSealTime(tx, now);
      const { box_id, revision, length } = box;
      await sealBox(tx, box_id, sealed_at);
      appendEvent(work, 'cairn.box.sealed', { type: 'box', id: box_id }, { revision, length });
      return { row: { ...box, sealed_at, updated_at: sealed_at } };
    },
  });
}

export async function fork(call: Call, input: In<'boxes.fork'>): Promise<Box> {
  const agent_id = ownerOf(call, input.agent_id);
  const sent_hash = sentHash(input.new_box_id, input);
  const metadata = metadataText(call, input.metadata);
  return changeBox(call, {
    input,
    bytes: metadata.length,
    work: async (work) => {
      const { tx, now } = work;
      const source = await openBox(call, tx, input.box_id, 'read');
      const box_id = input.new_box_id ?? newId();
      if (input.new_box_id !== undefined) {
        const existing = await findBox(tx, box_id);
        if (existing) return sameBox(call, existing, sent_hash, agent_id);
      }
      const revision = reached(source, input.revision);
      const subject_ids = listToText(subjectsOf(call, [], source.subject_ids));
      const row = await makeFork(tx, source, revision, { box_id, agent_id, subject_ids, metadata, sent_hash }, now);
      const facts = { forked_from: { box_id: source.box_id, revision }, length: row.length };
      appendEvent(work, 'cairn.box.forked', { type: 'box', id: box_id }, facts);
      return { row };
    },
  });
}

export function grant(call: Call, input: In<'boxes.grant'>): Promise<Grant> {
  const { box_id, agent_id, access = 'read' } = input;
  return change(call, {
    input,
    work: async (work) => {
      await openBoxLocked(work, box_id, 'own');
      const row: GrantRow = { box_id, agent_id, access, granted_at: work.now };
      await putGrant(work.tx, row);
      appendEvent(work, 'cairn.box.granted', { type: 'box', id: box_id }, { agent_id, access });
      return toGrant(row);
    },
    remember: (answer) => answer,
    again: async (_query, kept) => kept as unknown as Grant,
  });
}

export async function ungrant(call: Call, input: In<'boxes.ungrant'>): Promise<void> {
  const { box_id, agent_id } = input;
  await change(call, {
    input,
    work: async (work) => {
      await openBoxLocked(work, box_id, 'own');
      const removed = await removeGrant(work.tx, box_id, agent_id);
      if (removed > 0) appendEvent(work, 'cairn.box.ungranted', { type: 'box', id: box_id }, { agent_id });
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}
