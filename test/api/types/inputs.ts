/** Input that compiles, and input that does not. Checked against the published declarations. */
import type { Cairn, JsonInput, SearchFilter, TurnInput } from 'cairndb';

declare const cairn: Cairn;
declare const scope_id: string;
declare const trajectory_id: string;
declare const words: readonly string[];

// Enumerations are literal unions, spelled as in answers.
const turn: TurnInput = { scope_id, role: 'User', content: 'Login fails.' };
await cairn.turns.add(turn);
await cairn.turns.add({ scope_id, role: 'Assistant' }, { idempotency_key: 'a' });
// @ts-expect-error: not a role
await cairn.turns.add({ scope_id, role: 'Usr' });
// @ts-expect-error: answers spell it User
await cairn.turns.add({ scope_id, role: 'user' });
// @ts-expect-error: a role is needed
await cairn.turns.add({ scope_id });
// @ts-expect-error: no such member
await cairn.turns.add({ scope_id, role: 'User', text: 'Login fails.' });
// @ts-expect-error: no such mode
await cairn.locks.acquire({ resource_type: 'file', resource_id: 'a', mode: 'Read' });
await cairn.locks.acquire({ resource_type: 'file', resource_id: 'a', mode: 'Shared' });
// @ts-expect-error: an input is needed
await cairn.locks.acquire();
await cairn.locks.list();
await cairn.auth.whoami();

// Lifetimes: names, or a duration in either form.
await cairn.remember('Anna prefers tea.', { ttl: 'LongTerm' });
await cairn.remember('Anna prefers tea.', { ttl: 'Duration(60000)' });
await cairn.memory.remember({ text: 'Anna prefers tea.', ttl: { Duration: 60_000 } });
// @ts-expect-error: not a lifetime
await cairn.remember('Anna prefers tea.', { ttl: 'Forever' });
// @ts-expect-error: a duration is a number of milliseconds
await cairn.memory.remember({ text: 'Anna prefers tea.', ttl: 'Duration(a minute)' });
// @ts-expect-error: the text is the first argument
await cairn.remember('Anna prefers tea.', { text: 'Bob does not.' });

// Filters: known fields and operators, in any depth.
const filters: readonly SearchFilter[] = [
  { field: 'note_type', operator: 'eq', value: 'Fact' },
  { or: [{ field: 'tag', operator: 'in', value: words }, { not: { field: 'role', operator: 'eq', value: 'Tool' } }] },
];
await cairn.recall('tea', { filters, entity_types: ['Note', 'Turn'] });
// @ts-expect-error: a filter has a field
await cairn.recall('tea', { filters: [{ feild: 'x' }] });
// @ts-expect-error: not a field
await cairn.recall('tea', { filters: [{ field: 'colour', operator: 'eq', value: 'green' }] });
// @ts-expect-error: not an operator, two levels down
await cairn.recall('tea', { filters: [{ and: [{ not: { field: 'tag', operator: 'is', value: 'x' } }] }] });
// @ts-expect-error: nothing of this type is searched
await cairn.recall('tea', { entity_types: ['Lock'] });

// JSON values, read-only or not.
type Settings = { retries: number; hosts: readonly string[]; note?: string };
declare const settings: Settings;
const values: readonly JsonInput[] = [null, 1, 'a', [true], settings, { nested: { deep: [settings] } }];
await cairn.turns.add({ scope_id, role: 'Tool', tool_results: values, metadata: settings });
await cairn.turns.add({ scope_id, role: 'Assistant', tool_calls: [{ id: 'a', name: 'search' }] });
await cairn.turns.add({ scope_id, role: 'Assistant', tool_calls: { id: 'a', name: 'search' } });
// @ts-expect-error: calls are objects
await cairn.turns.add({ scope_id, role: 'Assistant', tool_calls: [1, 2] });
// @ts-expect-error: metadata is an object
await cairn.turns.add({ scope_id, role: 'User', metadata: ['a'] });
// @ts-expect-error: JSON has no dates
await cairn.turns.add({ scope_id, role: 'User', content: { at: new Date() } });
// @ts-expect-error: JSON has no functions
await cairn.turns.add({ scope_id, role: 'User', content: () => 'a' });

// Bytes and read-only lists.
await cairn.scopes.checkpoint({ scope_id, context_state: new Uint8Array([1, 2]) });
await cairn.scopes.checkpoint({ scope_id, context_state: 'AQI=' });
// @ts-expect-error: neither text nor bytes
await cairn.scopes.checkpoint({ scope_id, context_state: 7 });
await cairn.remember('Anna prefers tea.', { tags: words });

// Snapshots are checked deeply.
const snapshot = {
  thought_chain: { steps: [] },
  context: { messages: [{ role: 'user', content: 'Fix it' }], variables: { attempts: 1 } },
  tool_state: { pending: [], completed: [] },
} as const;
await cairn.checkpoints.create({ execution_id: 'run-1', snapshot, metadata: { step_number: 1 } });
// @ts-expect-error: a state has its tools
await cairn.checkpoints.create({ execution_id: 'run-1', snapshot: { ...snapshot, tool_state: {} } });
await cairn.checkpoints.create({
  execution_id: 'run-1',
  // @ts-expect-error: messages of a state have the roles of a model's API
  snapshot: { ...snapshot, context: { messages: [{ role: 'User', content: 'a' }], variables: {} } },
});

// Batches: each item by its operation.
await cairn.artifacts.batch({
  items: [
    { operation: 'create', create: { trajectory_id, artifact_type: 'Fact', name: 'a', content: 1 } },
    { operation: 'delete', artifact_id: 'a' },
  ],
});
// @ts-expect-error: what is to be created is missing
await cairn.artifacts.batch({ items: [{ operation: 'create', artifact_id: 'a' }] });

// An answer can be posted back, computed members included.
await cairn.cards.add(await cairn.cards.get({ card_id: 'a' }));
await cairn.turns.add(await cairn.turns.get({ turn_id: 'a' }));
// @ts-expect-error: computed by Cairn, not given by callers
await cairn.turns.add({ scope_id, role: 'User', created_at: '2026-01-31T12:00:00Z' });

// @ts-expect-error: no such operation
await cairn.turns.remove({ turn_id: 'a' });
