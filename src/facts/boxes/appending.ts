/** Appends cards to a box. Appends to one box at the same time share its rows. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, type Work } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { refuseUnseen } from '../cards/access.js';
import { unknownCards } from '../cards/service.js';
import { openBox, permitted } from './access.js';
import { baseSegments, insertAppends, presentCards, readAppendState } from './entries.js';
import type { AppendResult } from './model.js';
import { type BoxState, growBox, lockBoxState } from './store.js';

export const requireAll = (card_ids: readonly string[], isKnown: (id: string) => boolean): void => {
  const missing = card_ids.filter((id) => !isKnown(id));
  if (missing.length > 0) throw unknownCards('card_ids', missing);
};

export const refuseFixed = (box: BoxState): void => {
  if (box.held_by !== null) {
    throw new CairnError(
      'BOX_HELD',
      `box ${box.box_id} belongs to ${box.held_by.replace(':', ' ')}, and only that changes it: add turns there, or fork the box`,
    );
  }
  if (box.sealed_at !== null) {
    throw new CairnError('BOX_SEALED', `box ${box.box_id} was sealed at ${toIso(box.sealed_at)}: fork it to continue`);
  }
};

interface Append {
  readonly call: Call;
  readonly box_id: string;
  readonly wanted: readonly string[];
}

type Appends = readonly [Append, ...Append[]];

export function append(call: Call, input: In<'boxes.append'>): Promise<AppendResult> {
  const { box_id, card_ids } = input;
  const item: Append = { call, box_id, wanted: card_ids.length === 1 ? card_ids : [...new Set(card_ids)] };
  return change(call, {
    input,
    entity: box_id,
    joint: { key: `append ${box_id}`, item, work: (tx, items) => appendAll(tx, items as unknown as Appends) },
    work: async ({ tx }) => {
      const [one] = await appendAll(tx, [item]);
      if (one!.status === 'rejected') throw one!.reason;
      return one!.value;
    },
    remember: (answer) => answer as unknown as Json,
    again: async (_query, kept) => kept as unknown as AppendResult,
  });
}

/** Runs appends to one box in order. All checks precede the writes. */
async function appendAll(tx: Tx, appends: Appends): Promise<PromiseSettledResult<AppendResult>[]> {
  const { call: first, box_id } = appends[0];
  const now = first.driver.now();
  const wanted = appends.length === 1 ? appends[0].wanted : [...new Set(appends.flatMap((each) => each.wanted))];
  // Sent together: the second statement runs once the box is locked.
  const [found, { entered, known }] = await Promise.all([
    lockBoxState(tx, box_id),
    readAppendState(tx, box_id, wanted, now),
  ]);
  const inherited = found?.base_box_id
    ? await presentCards(tx, await baseSegments(tx, found, found.revision), wanted)
    : undefined;
  let { revision = 0, length = 0 } = found ?? {};
  const made: { readonly work: Work; readonly answer: AppendResult }[] = [];
  const settled: PromiseSettledResult<AppendResult>[] = [];
  for (const { call, wanted } of appends) {
    try {
      await checkBox(call, tx, box_id, found);
      const isPresent = (id: string) => entered.has(id) || inherited?.has(id) === true;
      const already_present = wanted.filter(isPresent);
      const appended = already_present.length === 0 ? wanted : wanted.filter((id) => !isPresent(id));
      requireAll(appended, (id) => known.has(id));
      await refuseUnseen(call, tx, appended);
      for (const id of appended) entered.add(id);
      if (appended.length > 0) revision++;
      length += appended.length;
      const answer = { box_id, revision, length, appended: [...appended], already_present };
      if (appended.length > 0) made.push({ work: { call, tx, now }, answer });
      settled.push({ status: 'fulfilled', value: answer });
    } catch (reason) {
      if (!(reason instanceof CairnError)) throw reason;
      settled.push({ status: 'rejected', reason });
    }
  }
  if (found && made.length > 0) {
    const place = { position: found.next_position, behind: found.length, revision: found.revision + 1 };
    await insertAppends(
      tx,
      box_id,
      place,
      made.map(({ answer }) => answer.appended),
    );
    const next_position = found.next_position + length - found.length;
    await growBox(tx, box_id, { revision, length, next_position, updated_at: now });
  }
  for (const { work, answer } of made) {
    const facts = { revision: answer.revision, length: answer.length, card_ids: answer.appended };
    appendEvent(work, 'cairn.box.appended', { type: 'box', id: box_id }, facts);
  }
  return settled;
}

async function checkBox(call: Call, tx: Tx, box_id: string, found: BoxState | undefined): Promise<void> {
  const box = await permitted(call, tx, box_id, found, 'write');
  // lockBoxState does not read whether the holder has ended: most boxes have none.
  if (box.held_by !== null) await openBox(call, tx, box_id, 'write');
  refuseFixed(box);
}
