/** How SQLite finds what searches ask first: by partial indexes, never by walking all documents or edges of a tenant. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mayHide } from '#cairn/recall/search/hidden-results.js';
import { neighboursOf } from '#cairn/recall/search/matching-docs.js';
import { mayHaveAny, ownDocs, rangeOf } from '#cairn/recall/search/narrow-search.js';
import { notePlans, type Plans } from '../../support/inspect/plans.js';

let noted: Plans;

beforeAll(async () => {
  noted = await notePlans();
  await noted.cairn.notes.create({ note_type: 'Fact', title: 'alpha', content: 'alpha is a polymer' });
});

afterAll(() => noted.close());

const plansOf = (action: Parameters<Plans['plansOf']>[0]) => noted.plansOf(action);
const query = () => noted.store.driver.at('default');
const all = { from: 1, to: 1000 };

it('whether any result may be hidden is asked of the superseded ends of edges, and of the rare types', async () => {
  const plans = (await plansOf(() => mayHide(query()))).join('\n');
  expect(plans).toContain('edge_participants_superseded');
  expect(plans).toContain('search_docs_by_type');
  expect(plans).not.toContain('PRIMARY KEY');
});

it.each([
  ['rare types', 'search_docs_by_type', { tenant: 'default', entity_types: ['note'] }],
  ['a scope', 'search_docs_by_scope', { tenant: 'default', scopes: [{ scope_id: 's', until: null }] }],
  ['a trajectory', 'search_docs_by_trajectory', { tenant: 'default', trajectory_id: 't' }],
])('a narrow search finds the documents of %s by their index', async (_, index, filter) => {
  const plans = (await plansOf(() => ownDocs(query(), filter, all, 500))).filter((line) => /\bd\b/.test(line));
  expect(plans.join('\n')).toContain(index);
  expect(plans.filter((line) => line.includes('USING PRIMARY KEY'))).toEqual([]);
});

it('the range of a trajectory is read from the ends of its index', async () => {
  const plans = (await plansOf(() => rangeOf(query(), 't', 1000))).filter((line) => /\bd\b/.test(line));
  expect(plans.join('\n')).toContain('search_docs_by_trajectory');
  expect(plans.filter((line) => line.includes('USING PRIMARY KEY'))).toEqual([]);
});

it('turns around others are found by their positions in the scope', async () => {
  const request = { tenant: 'default', now: 0, viewer: null };
  const plans = await plansOf(() => neighboursOf(query(), request, [{ scope_id: 's', position: 5 }]));
  expect(plans.join('\n')).toContain('search_docs_by_scope (tenant_id=? AND scope_id=? AND position>? AND position<?)');
});

it('whether there are rare types is asked of their index', async () => {
  const plans = (await plansOf(() => mayHaveAny(query(), { tenant: 'default', entity_types: ['note'] }))).join('\n');
  expect(plans).toContain('search_docs_by_type');
});
