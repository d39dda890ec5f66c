/** Changing boxes: create, append, save, seal, fork. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, type Change, change, isAnswerOf, type Work } from '../../engine/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { refuseUnseen } from '../cards/access.js';
import { takeSealTime } from '../cards/lifetime.js';
import { unknownCards } from '../cards/service.js';
import { knownCards } from '../cards/store.js';
import { openBox, openBoxLocked, ownerOf, permitted } from './access.js';
import { boxes as operations } from './contract.js';
import {
  baseSegments,
  entriesAfter,
  insertEntries,
  presentCards,
  removeEntriesFrom,
  segmentsOf,
  standingOf,
} from './entries.js';
import { makeBox, makeFork } from './making.js';
import type { AppendResult, Box } from './model.js';
import { type BoxRow, type BoxState, findBox, growBox, lockBox, lockBoxState, sealBox, updateBox } from './store.js';
import { describe, reached, show } from './views.js';

async function requireKnown(tx: Tx, card_ids: readonly string[], now: number): Promise<void> {
  if (card_ids.length === 0) return;
  const known = await knownCards(tx, card_ids, now);
  const missing = card_ids.filter((id) => !known.has(id));
  if (missing.length > 0) throw unknownCards('card_ids', missing);
}

const refuseFixed = (box: BoxState) => {
  if (box.held_by !== null) {
    throw new CairnError(
      'BOX_HELD',
      `box ${box.box_id} belongs to ${box.held_by.replace(':', ' ')}, which alone changes it: add turns there, or fork the box`,
    );
  }
  if (box.sealed_at !== null) {
    throw new CairnError('BOX_SEALED', `box ${box.box_id} was sealed at ${toIso(box.sealed_at)}: fork it to go on`);
  }
};

/** What only an id that the client chose needs: to recognise the same request again. */
const sentHash = (id: string | undefined, input: object): string | null =>
  id === undefined ? null : sha256(canonical(input as Json));

/** A box as a change leaves it, with its card ids where the change knows them all. */
interface Changed {
  readonly row: BoxRow;
  readonly card_ids?: string[];
}

/** A change that answers with a box. The card ids, up to 10,000, are read after the commit, as of the row that it wrote. */
async function changeBox(call: Call, what: Pick<Change<Changed>, 'input' | 'bytes' | 'work'>): Promise<Box> {
  const { row, card_ids } = await change<Changed>(call, {
    ...what,
    remember: (answer) => answer.row.box_id,
    again: async (query, kept) => ({ row: await openBox(call, query, kept as string, 'read') }),
  });
  if (card_ids !== undefined) return { ...describe(call, row), card_ids, next_cursor: null };
  return call.driver.snapshot(call.tenant, (query) => show(call, query, row));
}

/** The box that has this id already, if it came of the same request by the same owner. */
async function sameBox(
  row: BoxRow,
  sent: string | null,
  agent_id: string | null,
  isAnswer: () => Promise<boolean> = async () => false,
): Promise<Changed> {
  if (row.agent_id !== agent_id || (row.sent_hash !== sent && !(await isAnswer()))) {
    throw new CairnError('ENTITY_ALREADY_EXISTS', `box ${row.box_id} exists and was made otherwise: use a new box_id`);
  }
  return { row };
}

/** The metadata of a box is held to the limit of a card. */
function metadataText(call: Call, metadata: JsonObject | undefined): string {
  const text = canonical(metadata ?? {});
  const bytes = Buffer.byteLength(text);
  const limit = call.limits.max_card_bytes;
  if (bytes <= limit) return text;
  throw new CairnError('TOO_LARGE', `the metadata is ${bytes} bytes, the limit is ${limit}`, { bytes, limit });
}

export async function create(call: Call, input: In<'boxes.create'>): Promise<Box> {
  const agent_id = ownerOf(call, input.agent_id);
  const card_ids = [...new Set(input.card_ids)];
  const sent_hash = sentHash(input.box_id, input);
  const metadata = metadataText(call, input.metadata);
  return changeBox(call, {
    input,
    bytes: metadata.length,
    work: async (work) => {
      const { tx, now } = work;
      const box_id = input.box_id ?? newId();
      if (input.box_id !== undefined) {
        const existing = await findBox(tx, box_id);
        const isAnswer = async (row: BoxRow) => isAnswerOf(operations.create.input, await show(call, tx, row), input);
        if (existing) return sameBox(existing, sent_hash, agent_id, () => isAnswer(existing));
      }
      await requireKnown(tx, card_ids, now);
      await refuseUnseen(call, tx, card_ids);
      const row = await makeBox(tx, { box_id, agent_id, metadata, sent_hash, length: card_ids.length }, now);
      await insertEntries(tx, box_id, { position: 1, behind: 0, revision: 1 }, card_ids);
      appendEvent(work, 'cairn.box.created', { type: 'box', id: box_id }, { length: card_ids.length });
      return { row, card_ids };
    },
  });
}

export async function append(call: Call, input: In<'boxes.append'>): Promise<AppendResult> {
  const wanted = input.card_ids.length === 1 ? input.card_ids : [...new Set(input.card_ids)];
  return change(call, {
    input,
    entity: input.box_id,
    work: async (work) => {
      const { tx, now } = work;
      // Sent together: the second is answered as of when the box is locked.
      const [found, { entered, known }] = await Promise.all([
        lockBoxState(tx, input.box_id),
        standingOf(tx, input.box_id, wanted, now),
      ]);
      const box = await permitted(call, tx, input.box_id, found, 'write');
      // What is held may have ended, which this statement does not ask: most boxes are not held.
      if (box.held_by !== null) await openBox(call, tx, input.box_id, 'write');
      refuseFixed(box);
      const inherited = await presentCards(tx, await baseSegments(tx, box, box.revision), wanted);
      const isPresent = (id: string) => entered.has(id) || inherited.has(id);
      const already_present = wanted.filter(isPresent);
      const appended = already_present.length === 0 ? wanted : wanted.filter((id) => !isPresent(id));
      const missing = appended.filter((id) => !known.has(id));
      if (missing.length > 0) throw unknownCards('card_ids', missing);
      await refuseUnseen(call, tx, appended);
      if (appended.length === 0) {
        return { box_id: box.box_id, revision: box.revision, length: box.length, appended, already_present };
      }
      const revision = box.revision + 1;
      const length = box.length + appended.length;
      const place = { position: box.next_position, behind: box.length, revision };
      await insertEntries(tx, box.box_id, place, appended);
      await growBox(tx, box.box_id, {
        revision,
        length,
        next_position: box.next_position + appended.length,
        updated_at: now,
      });
      appendEvent(
        work,
        'cairn.box.appended',
        { type: 'box', id: box.box_id },
        { revision, length, card_ids: appended },
      );
      return { box_id: box.box_id, revision, length, appended, already_present };
    },
    remember: (answer) => answer as unknown as Json,
    again: async (_query, kept) => kept as unknown as AppendResult,
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
          `box ${input.box_id} is at revision ${before}, not ${input.revision}: load it again and decide anew`,
          { revision: before },
        );
      }
      const agent_id = ownerOf(call, undefined);
      refuseOther(input, allowed ?? { agent_id, metadata: '{}' });
      const empty = { box_id: input.box_id, agent_id, metadata: '{}', sent_hash: null, length: 0 };
      const box = allowed ?? (await makeBox(tx, empty, now));
      await refuseUnseenNew(work, box, wanted);
      const saved = await replaceEntries(tx, box, wanted, isNew, now);
      if (saved !== box) {
        const facts = { revision: saved.revision, length: saved.length };
        appendEvent(work, 'cairn.box.saved', { type: 'box', id: box.box_id }, facts);
      }
      return { row: saved, card_ids: wanted };
    },
  });
}

/** A box that was loaded is saved as it is but for its cards: what would not be done is refused. */
function refuseOther(
  { box_id, agent_id, metadata }: In<'boxes.save'>,
  there: Pick<BoxRow, 'agent_id' | 'metadata'>,
): void {
  const other = [
    ...(agent_id != null && agent_id !== there.agent_id ? ['agent_id'] : []),
    ...(metadata !== undefined && canonical(metadata) !== there.metadata ? ['metadata'] : []),
  ];
  if (other.length === 0) return;
  throw invalid(
    `${other.join(', ')}: box ${box_id} has another, and a save changes its cards alone: leave it out, or create a new box`,
  );
}

/** Refuses cards that the agent may not read, but for those that the box has. */
async function refuseUnseenNew({ call, tx }: Work, box: BoxRow, wanted: readonly string[]): Promise<void> {
  if (call.caller.agent_id === null) return;
  const present = await presentCards(tx, await segmentsOf(tx, box), wanted);
  await refuseUnseen(
    call,
    tx,
    wanted.filter((id) => !present.has(id)),
  );
}

/** For a box that is locked. Keeps the entries that the new list starts with, removes the rest for revisions from now on, appends what is new. */
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
  // What the box has of its own is asked as an append asks: a box that is saved often has many old entries of a card.
  const { entered, known } = await standingOf(tx, box.box_id, wanted, now);
  const inherited = await presentCards(tx, segments.slice(0, -1), wanted);
  const missing = wanted.filter((id) => !known.has(id) && !entered.has(id) && !inherited.has(id));
  if (missing.length > 0) throw unknownCards('card_ids', missing);
  const revision = fresh ? 1 : box.revision + 1;
  const own = segments.at(-1)!;
  // A fork that no longer starts with all of its base stands on its own from this revision on.
  const cutOff = kept < own.before;
  if (cutOff) kept = 0;
  // Where more was removed among the entries than the list is long, it is written anew: reads walk over the removed
  // ones, so a box that is saved again and again must not gather them behind a first card that stays.
  else if (box.next_position - own.from - (kept - own.before) > wanted.length) kept = own.before;
  const anew = cutOff || kept === own.before;
  const firstRemoved = anew ? own.from : (current[kept]?.position ?? box.next_position);
  await removeEntriesFrom(tx, box.box_id, firstRemoved, revision);
  const added = wanted.slice(kept);
  const place = { position: box.next_position, behind: kept, revision };
  await insertEntries(tx, box.box_id, place, added);
  const change = {
    revision,
    length: wanted.length,
    first_position: anew ? box.next_position : box.first_position,
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
      await sealBox(tx, box.box_id, sealed_at);
      appendEvent(
        work,
        'cairn.box.sealed',
        { type: 'box', id: box.box_id },
        { revision: box.revision, length: box.length },
      );
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
        if (existing) return sameBox(existing, sent_hash, agent_id);
      }
      const revision = reached(source, input.revision);
      const made = { box_id, agent_id, metadata, sent_hash };
      const row = await makeFork(tx, source, revision, made, now);
      const facts = { forked_from: { box_id: source.box_id, revision }, length: row.length };
      appendEvent(work, 'cairn.box.forked', { type: 'box', id: box_id }, facts);
      return { row };
    },
  });
}
