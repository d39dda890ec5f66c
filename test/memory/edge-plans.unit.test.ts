/** How SQLite finds what edges ask: by the keys they name, never by walking all edges. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { newId } from '#cairn/kernel/contract.js';
import { deleteEdgesOf, relationsOf } from '#cairn/memory/edges/store.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';

let noted: Plans;
let cairn: Api;

const link = (edge_type: 'DerivedFrom' | 'Supports', ...ids: string[]) => ({
  edge_type,
  participants: ids.map((entity_id) => ({ entity_type: 'Card' as const, entity_id })),
});
const from = { entity_type: 'Card' as const, entity_id: 'a' };

beforeAll(async () => {
  noted = await notePlans();
  cairn = noted.cairn;
  for (const card_id of 'abcdej') await cairn.cards.add({ card_id, content: card_id });
  for (const ids of ['ba', 'cb', 'dc']) await cairn.edges.create(link('DerivedFrom', ...ids));
});

afterAll(() => noted.close());

describe('edges are found by what they link', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a new edge', () => cairn.edges.create({ edge_id: newId(), ...link('Supports', 'a', 'b') })],
    ['an edge that might close a cycle', () => cairn.edges.create(link('DerivedFrom', 'e', 'd'))],
    ['an edge that would', () => cairn.edges.create(link('DerivedFrom', 'a', 'd')).catch(() => undefined)],
    ['a walk', () => cairn.edges.traverse({ ...from, max_depth: 9 })],
    ['a walk along one type', () => cairn.edges.traverse({ ...from, edge_type: 'DerivedFrom' })],
    ['a list by entity', () => cairn.edges.list(from)],
    ['a list by entity id and type', () => cairn.edges.list({ entity_id: 'a', edge_type: 'DerivedFrom' })],
    ['a list by type', () => cairn.edges.list({ edge_type: 'DerivedFrom' })],
    ['what is known of artifacts', () => relationsOf(noted.store.driver.at('default'), ['a'], { now: 1, agent: null })],
    ['the removal of an entity', () => noted.store.driver.write('default', (tx) => deleteEdgesOf(tx, ['j']))],
  ])('by %s', async (_, action) => {
    const plans = await noted.plansOf(action);
    expect(plans.some((line) => /\bedge/.test(line))).toBe(true);
    expect(plans.filter((line) => /^SEARCH [poqye] .*\((tenant_id=\?)( AND edge_id[<>]\?)?\)$/.test(line))).toEqual([]);
    expect(plans.filter((line) => /^SCAN (?!json_each|r$|reached)/.test(line))).toEqual([]);
  });
});
