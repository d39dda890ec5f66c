/** Use cases of remembering and recalling: a note or turn in a place of its own, and a search that answers whole. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { memory as operations } from '../contract/recall.js';
import { extentOf } from '../domain/memory-access.js';
import { parseDate } from '../domain/parse-date.js';
import { CairnError } from '../model/errors.js';
import type { JsonObject } from '../model/json.js';
import { countTokens } from '../provider/tokenizer.js';
import { findScope } from '../store/scopes.js';
import { findTrajectory } from '../store/trajectories.js';
import { checkNote, create as createNote } from './notes.js';
import type { Call } from './runtime.js';
import { create as createScope } from './scopes.js';
import { describeHit, find } from './search.js';
import { systemCall } from './timekeeper.js';
import { create as createTrajectory } from './trajectories.js';
import { add as addTurn } from './turns.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

const NAME = 'memory';
const FACT = 'Fact';
/** A place that was closed or deleted gives way to the next one. */
const MAX_PLACES = 1000;
const WINDOW_TOKENS = 1_000_000;
const TITLE_LENGTH = 80;

/** The same for everyone who asks, so that several processes make one: a UUID of what it is for. */
function placeId(tenant: string, what: string, number: number): string {
  const hash = createHash('sha256').update(`${tenant}\n${NAME}\n${what}\n${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** The first place that is open, made if none is. */
async function openPlace(
  tenant: string,
  what: string,
  look: (id: string) => Promise<'open' | 'over' | 'none'>,
  make: (id: string) => Promise<unknown>,
): Promise<string> {
  for (let number = 1; number <= MAX_PLACES; number++) {
    const id = placeId(tenant, what, number);
    const state = await look(id);
    if (state === 'over') continue;
    if (state === 'none') await make(id);
    return id;
  }
  throw new CairnError(
    'STATE_CONFLICT',
    `${MAX_PLACES} places called ${NAME} were closed: name a ${what}_id`,
  );
}

const defaultTrajectory = (call: Call): Promise<string> => {
  const { tenant } = call;
  return openPlace(
    tenant,
    'trajectory',
    async (id) => {
      const row = await findTrajectory(call.driver.at(tenant), tenant, id);
      if (!row) return 'none';
      return row.deleted_at === null && row.status === 'Active' ? 'open' : 'over';
    },
    (trajectory_id) => createTrajectory(systemCall(call, tenant), { trajectory_id, name: NAME }),
  );
};

async function defaultScope(call: Call, trajectory_id: string): Promise<string> {
  const { tenant } = call;
  return openPlace(
    tenant,
    `scope of ${trajectory_id}`,
    async (id) => {
      const row = await findScope(call.driver.at(tenant), tenant, id);
      if (!row) return 'none';
      return row.deleted_at === null && row.closed_at === null ? 'open' : 'over';
    },
    (scope_id) =>
      createScope(systemCall(call, tenant), {
        scope_id,
        trajectory_id,
        name: NAME,
        token_budget: WINDOW_TOKENS,
      }),
  );
}

/** The first sentence, or as much of it as a title holds. */
export function titleOf(text: string): string {
  const line = text
    .trim()
    .split(/\n|(?<=[.!?。！？])\s/, 1)[0]!
    .trim();
  const letters = [...(line === '' ? text.trim() : line)];
  return letters.length <= TITLE_LENGTH
    ? letters.join('')
    : `${letters.slice(0, TITLE_LENGTH - 1).join('')}…`;
}

export async function remember(call: Call, input: In<'remember'>): Promise<Out<'remember'>> {
  checkInput(input);
  const { tags, speaker, occurred_at } = input;
  const metadata: JsonObject = {
    ...input.metadata,
    ...(tags === undefined ? {} : { tags }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(occurred_at === undefined ? {} : { occurred_at }),
  };
  return input.as === 'turn' ? rememberTurn(call, input, metadata) : rememberNote(call, input, metadata);
}

/** Before anything is made for it. */
function checkInput(input: In<'remember'>): void {
  refuseMixed(input);
  const { text, type = FACT, ttl, occurred_at } = input;
  if (text.trim() === '') throw new CairnError('INVALID_INPUT', 'text says nothing: give at least a word');
  if (occurred_at !== undefined && parseDate(occurred_at) === undefined) {
    throw new CairnError(
      'INVALID_INPUT',
      `occurred_at "${occurred_at}" is no date that can be read: write it as 2026-01-31 or 2026-01-31T12:00:00Z`,
    );
  }
  if (ttl !== undefined) checkNote({ type, ttl });
}

/** A field that says nothing about what is made would be lost without a word. */
function refuseMixed(input: In<'remember'>): void {
  const foreign = input.as === 'turn' ? (['type', 'title', 'ttl'] as const) : (['role', 'scope_id'] as const);
  for (const name of foreign) {
    if (input[name] === undefined) continue;
    const what = input.as === 'turn' ? 'a note' : 'a turn';
    throw new CairnError('INVALID_INPUT', `${name} is for ${what}: leave it out, or set as`);
  }
}

async function rememberNote(
  call: Call,
  input: In<'remember'>,
  metadata: JsonObject,
): Promise<Out<'remember'>> {
  const trajectory_id = input.trajectory_id ?? (await defaultTrajectory(call));
  const note = await createNote(call, {
    note_type: input.type ?? FACT,
    title: input.title ?? titleOf(input.text),
    content: input.text,
    source_trajectory_ids: [trajectory_id],
    metadata,
    ...(input.ttl === undefined ? {} : { ttl: input.ttl }),
  });
  const { note_id: id, title: name, token_count, created_at } = note;
  return { entity_type: 'note', id, name, trajectory_id, scope_id: null, token_count, created_at };
}

/** The place of all is no place for who may write only what is in its own: by the same rule as for any scope. */
function refuseCommonGround({ acting }: Call): void {
  const scope = acting && extentOf(acting.memory_access, 'Turn', 'write');
  if (scope === undefined || scope === 'all') return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${acting!.agent_id} may write Turns in trajectories and scopes of its own alone: name one`,
    { rule: 'memory_access', memory_type: 'Turn', need: 'write', scope },
  );
}

async function rememberTurn(
  call: Call,
  input: In<'remember'>,
  metadata: JsonObject,
): Promise<Out<'remember'>> {
  const query = call.driver.at(call.tenant);
  if (input.scope_id === undefined && input.trajectory_id === undefined) refuseCommonGround(call);
  const scope_id =
    input.scope_id ?? (await defaultScope(call, input.trajectory_id ?? (await defaultTrajectory(call))));
  const scope = await findScope(query, call.tenant, scope_id);
  if (scope && input.trajectory_id !== undefined && scope.trajectory_id !== input.trajectory_id)
    throw new CairnError('INVALID_INPUT', `scope ${scope_id} is not in trajectory ${input.trajectory_id}`);
  const turn = await addTurn(call, { scope_id, role: input.role ?? 'User', content: input.text, metadata });
  const { turn_id: id, token_count, created_at } = turn;
  const trajectory_id = scope!.trajectory_id;
  return { entity_type: 'turn', id, name: null, trajectory_id, scope_id, token_count, created_at };
}

const RECALLED = ['turn', 'artifact', 'note', 'card'] as const;

export async function recall(call: Call, input: In<'recall'>): Promise<Out<'recall'>> {
  const { max_tokens = Number.POSITIVE_INFINITY, ...asked } = input;
  const found = await find(call, { ...asked, entity_types: asked.entity_types ?? [...RECALLED] }, 'text');
  const passages: Out<'recall'>['passages'] = [];
  let total = 0;
  for (const hit of found.hits) {
    const token_count = await countTokens(hit.text!);
    // A later one may be short enough.
    if (total + token_count > max_tokens) continue;
    total += token_count;
    const { snippet, highlights } = hit;
    passages.push({ ...describeHit(hit), snippet, highlights, text: hit.text!, token_count });
  }
  const memories = passages.filter(({ entity_type }) => entity_type === 'note' || entity_type === 'artifact');
  call.access.touch(
    call.tenant,
    memories.map(({ id }) => id),
  );
  return { passages, token_count: total, next_cursor: found.next_cursor };
}
