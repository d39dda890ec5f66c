/** Use cases that artifacts and notes share: single changes, reads by id, and batches. */
import {
  allSucceeded,
  answerOf,
  type BatchAnswer,
  type Call,
  change,
  checkLifetime,
  checkNamedAgent,
  equalsAnswer,
  type ItemReferences,
  type ItemResult,
  type PageInput,
  replayItem,
  runEach,
  totalBytes,
  type Work,
  withItemIndex,
} from '../../engine/index.js';
import { checkUses } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import type { artifacts } from '../artifacts/contract.js';
import type { ArtifactInput } from '../artifacts/model.js';
import type { notes } from '../notes/contract.js';
import type { NoteInput } from '../notes/model.js';
import { givenTtl } from './lifetimes.js';
import {
  createMemory,
  deleteMemory,
  type NewMemory,
  type PatchInput,
  prepareContent,
  preparePatch,
  updateMemory,
} from './service.js';
import { type Fields, historyOf, type Memory, type Noun, readMemory, readVersion } from './views.js';

/** A change that is validated, hashed and counted, and needs only a transaction. */
export interface Action<O> {
  readonly bytes: number;
  readonly work: (work: Work) => Promise<O>;
}

interface NewColumns extends Pick<Fields, 'type' | 'name' | 'provenance'> {
  /** The input before normalization; default: `input`. */
  readonly sent?: object;
  /** Further checks, after that of the agent and before those of the content. */
  readonly check?: () => void;
}

/** Prepares a create. */
export async function prepareNew<M extends Memory>(
  call: Call,
  noun: Noun<M>,
  input: ArtifactInput | NoteInput,
  { sent = input, check, ...columns }: NewColumns,
  place: NewMemory['place'],
): Promise<Action<M>> {
  const { metadata = {}, abstraction_level = 'L0' } = input;
  const ttl = givenTtl(input);
  const memory_id = (input as { readonly [id: string]: unknown })[noun.id] as string | undefined;
  const agent_id = checkNamedAgent(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
  check?.();
  const { bytes, ...prepared } = await prepareContent(call, input.content, metadata);
  if (ttl !== undefined) checkLifetime(input.lifetime, ttl);
  const memory: NewMemory = {
    memory_id,
    // Only an id that the client chose can be sent again.
    sent_hash: memory_id === undefined ? null : sha256(canonical({ ...sent, [noun.id]: null } as unknown as Json)),
    agent_id,
    subject_ids: input.subject_ids,
    fields: { ...columns, abstraction_level, metadata, ttl },
    expires_at: input.expires_at,
    isAnswered: (answer) => equalsAnswer(noun.input, answer, sent),
    prepared,
    place,
  };
  return { bytes, work: (work) => createMemory(work, noun, memory) };
}

/** Stored to replay the answer. */
type Kept = [memory_id: string, version: number] | null;

const keep = (answer: Memory | null): Json =>
  answer === null ? null : ['artifact_id' in answer ? answer.artifact_id : answer.note_id, answer.version];

const again = async <M extends Memory>(work: Work, noun: Noun<M>, kept: Kept): Promise<M | null> =>
  kept === null ? null : readVersion(work, noun, ...kept);

const perform = <M extends Memory, O extends M | null>(
  call: Call,
  noun: Noun<M>,
  input: unknown,
  { bytes, work }: Action<O>,
): Promise<O> =>
  change<O>(call, {
    input,
    bytes,
    work,
    remember: keep,
    again: (tx, kept) => again({ call, tx, now: call.driver.now() }, noun, kept as Kept) as Promise<O>,
  });

export interface Batch<I> {
  readonly items: readonly I[];
  readonly atomic?: boolean | undefined;
  readonly stop_on_error?: boolean | undefined;
}

async function performBatch<M extends Memory, I>(
  call: Call,
  noun: Noun<M>,
  input: Batch<I>,
  prepare: (call: Call, item: I) => Promise<Action<M | null>>,
  about: (item: I) => ItemReferences,
): Promise<BatchAnswer<M | null>> {
  const { items, stop_on_error } = input;
  if (!input.atomic) {
    const run = (itemCall: Call, item: I, action: Action<M | null>) => perform(itemCall, noun, item, action);
    return runEach(call, input, items, run, { stop_on_error, prepare, about });
  }
  const actions: Action<M | null>[] = [];
  for (const [i, item] of items.entries()) actions.push(await withItemIndex('items', i, () => prepare(call, item)));
  const results = await change<ItemResult<M | null>[]>(call, {
    input,
    bytes: totalBytes(actions),
    work: async (work) => {
      const done: (M | null)[] = [];
      for (const [i, action] of actions.entries()) done.push(await withItemIndex('items', i, () => action.work(work)));
      return allSucceeded(done).results;
    },
    remember: (list) => list.map((one) => (one.status === 'success' ? keep(one.data) : null)),
    again: async (tx, kept) => {
      const list: ItemResult<M | null>[] = [];
      for (const one of kept as Kept[])
        list.push(await replayItem(() => again({ call, tx, now: call.driver.now() }, noun, one)));
      return list;
    },
  });
  return answerOf(results);
}

type ById<K extends string> = { [name in K]: string };
type Item<K extends string, C, P> =
  | { operation: 'create'; create: C }
  | ({ operation: 'update'; update: P } & ById<K>)
  | ({ operation: 'delete' } & ById<K>);

interface Preparation<M, C, P> {
  readonly operations: typeof artifacts | typeof notes;
  readonly create: (call: Call, input: C) => Promise<Action<M>>;
  readonly columns: (patch: P) => PatchInput;
  /** Ids of other entities that a create names. */
  readonly namedBy?: (create: C) => readonly string[] | undefined;
}

/** The use cases of artifacts or notes, except `list`. */
export function versionUseCases<K extends 'artifact_id' | 'note_id', M extends Memory, C extends object, P>(
  noun: Noun<M> & { readonly id: K },
  { operations, create, columns, namedBy }: Preparation<M, C, P>,
) {
  const { id } = noun;
  const changeable = Object.keys(operations.update.input.shape).filter((name) => name !== id && name !== 'version');
  const prepareUpdate = async (call: Call, memory_id: string, patch: P): Promise<Action<M>> => {
    if (changeable.every((name) => (patch as Record<string, unknown>)[name] === undefined))
      throw invalid(`nothing to update: give one of ${changeable.join(', ')}`);
    const { bytes, ...prepared } = await preparePatch(call, memory_id, columns(patch));
    return { bytes, work: (work) => updateMemory(work, noun, prepared) };
  };
  const prepareDelete = (memory_id: string): Action<null> => ({
    bytes: 0,
    work: (work) => deleteMemory(work, noun, memory_id),
  });
  const prepareItem = async (call: Call, item: Item<K, C, P>): Promise<Action<M | null>> => {
    await checkUses(call, operations[item.operation].touches, item.operation === 'create' ? item.create : item);
    if (item.operation === 'create') return create(call, item.create);
    return item.operation === 'update' ? prepareUpdate(call, item[id], item.update) : prepareDelete(item[id]);
  };
  const about = (item: Item<K, C, P>): ItemReferences => {
    if (item.operation !== 'create') return { changes: item[id] };
    return { changes: (item.create as { readonly [name in K]?: string })[id], names: namedBy?.(item.create) };
  };
  return {
    create: async (call: Call, input: C): Promise<M> => perform(call, noun, input, await create(call, input)),
    get: (call: Call, input: ById<K> & { as_of?: string | undefined }): Promise<M> =>
      readMemory(call, noun, input[id], input.as_of),
    update: async (call: Call, input: ById<K> & P): Promise<M> => {
      const { [id]: memory_id, ...patch } = input;
      return perform(call, noun, input, await prepareUpdate(call, memory_id, patch as unknown as P));
    },
    delete: async (call: Call, input: ById<K>): Promise<void> => {
      await perform(call, noun, input, prepareDelete(input[id]));
    },
    history: (call: Call, input: ById<K> & PageInput) => historyOf(call, noun, input[id], input),
    batch: (call: Call, input: Batch<Item<K, C, P>>) => performBatch(call, noun, input, prepareItem, about),
  };
}
