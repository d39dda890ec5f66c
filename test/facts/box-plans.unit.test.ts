/** How SQLite finds what a box's changes ask: by the keys they name, never by walking a whole box. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';

let noted: Plans;
let cairn: Api;
const plansOf = (action: () => Promise<unknown>) => noted.plansOf(action);

/** Lines that read a table or all of a box. Lists that are given, and the links of a chain, are read as a whole. */
const walks = (plans: readonly string[]): string[] =>
  plans.filter(
    (line) =>
      (/^SCAN /.test(line) && !/^SCAN (json_each|chain|search|c|s|CONSTANT ROW)\b/.test(line)) ||
      /^SEARCH (e|box_entries) .*\(tenant_id=\?( AND box_id=\?)?\)$/.test(line),
  );

beforeAll(async () => {
  noted = await notePlans();
  cairn = noted.cairn;
  const cards = [...'abcdefghij'].map((card_id) => ({ card_id, content: card_id }));
  await cairn.cards.add_batch({ cards, atomic: true });
  await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
  await cairn.boxes.append({ box_id: 'x', card_ids: ['d'] });
  await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
  await cairn.boxes.append({ box_id: 'f', card_ids: ['e'] });
  await cairn.boxes.fork({ box_id: 'f', new_box_id: 'g' });
});

afterAll(() => noted.close());

describe('a whole box is not walked over', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['an append of one card', () => cairn.boxes.append({ box_id: 'x', card_ids: ['f'] })],
    ['an append of several', () => cairn.boxes.append({ box_id: 'x', card_ids: [...'aghi'] })],
    ['an append to a fork', () => cairn.boxes.append({ box_id: 'f', card_ids: ['g'] })],
    ['an append of several to a fork of a fork', () => cairn.boxes.append({ box_id: 'g', card_ids: [...'aghi'] })],
    ['a save', () => cairn.boxes.save({ box_id: 'g', card_ids: [...'abcdeij'], revision: 2 })],
    ['a fork', () => cairn.boxes.fork({ box_id: 'g' })],
    ['a fork of an earlier revision', () => cairn.boxes.fork({ box_id: 'x', revision: 1 })],
    ['a load', () => cairn.boxes.load({ box_id: 'g' })],
    ['a load of an earlier revision', () => cairn.boxes.load({ box_id: 'g', revision: 1 })],
    ['a page of cards', () => cairn.boxes.cards({ box_id: 'g', limit: 2, offset: 3 })],
  ])('by %s', async (_, action) => {
    const plans = await plansOf(action);
    expect(walks(plans)).toEqual([]);
  });

  it('since cards are looked up by the index that starts with them', async () => {
    const plans = await plansOf(() => cairn.boxes.append({ box_id: 'g', card_ids: [...'abj'] }));
    const lookups = plans.filter((line) => /^SEARCH e /.test(line));
    expect(lookups).toHaveLength(2);
    for (const line of lookups) expect(line).toMatch(/INDEX box_entries_by_card \(tenant_id=\? AND card_id=\?/);
  });
});

describe('BOX-5 the card ids of an answer are read after the commit', () => {
  const made = { box_id: 'made', card_ids: [...'abc'] };
  const retried = { idempotency_key: 'again' };
  it.each<[string, () => Promise<{ card_ids: string[] }>]>([
    ['a fork', () => cairn.boxes.fork({ box_id: 'f', new_box_id: 'h' })],
    ['the same fork again', () => cairn.boxes.fork({ box_id: 'f', new_box_id: 'h' })],
    ['a new box', () => cairn.boxes.create(made)],
    ['the same box again', () => cairn.boxes.create(made)],
    ['a fork with a key', () => cairn.boxes.fork({ box_id: 'f' }, retried)],
    ['its retry', () => cairn.boxes.fork({ box_id: 'f' }, retried)],
    ['a seal', () => cairn.boxes.seal({ box_id: 'h' })],
    ['the same seal again', () => cairn.boxes.seal({ box_id: 'h' })],
  ])('of %s', async (_, action) => {
    let shown: string[] = [];
    const plans = await noted.plansOfWrites(async () => {
      shown = (await action()).card_ids;
    });
    expect(shown.slice(0, 3)).toEqual([...'abc']);
    expect(plans.filter((line) => /^SEARCH (e|box_entries) /.test(line))).toEqual([]);
  });
});
