/**
 * Random histories, of which some things are forgotten: afterwards no row and no byte of the file has 20 characters of
 * them that nothing retained has, everything else is as it was, and the receipt counts what the model expects.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { httpEmbedder } from '#cairn/providers/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { contentsOf } from '../support/inspect/contents.js';
import { foldAll, mergeOnce } from '../support/nouns/search-index.js';
import { type StandIn, startEmbedder } from '../support/stand-ins/embedder.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const EXTRACT = 20;

type Step =
  | { readonly what: 'note' | 'turn' | 'packet'; readonly text: number; readonly at: number }
  | { readonly what: 'card'; readonly text: number; readonly at: number; readonly derived: boolean }
  | { readonly what: 'update' | 'delete' | 'artifact' | 'box' | 'fork'; readonly text: number; readonly at: number }
  | { readonly what: 'checkpoint' | 'restore' | 'summarize' | 'above' | 'assemble' | 'fold'; readonly at: number };

const at = fc.nat(1000);
const text = fc.nat(1_000_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constantFrom('note' as const, 'turn' as const, 'packet' as const), text, at }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('card' as const), text, at, derived: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom(...(['update', 'delete', 'artifact', 'box', 'fork'] as const)),
      text,
      at,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom(...(['checkpoint', 'restore', 'summarize', 'above', 'assemble', 'fold'] as const)),
      at,
    }),
  },
);

type Kind = 'Note' | 'Artifact' | 'Turn' | 'Card' | 'Packet';

/** What the model knows of one entity. */
interface Known {
  readonly kind: Kind;
  readonly id: string;
  readonly texts: string[];
  readonly sources: string[];
  deleted: boolean;
}

const WORDS = ['river', 'ledger', 'garden', 'signal', 'harbour', 'copper', 'meadow', 'lantern', 'orchid', 'granite'];

/** Every text is its own, but for a sentence that all of one residue share. */
const sentence = (seed: number): string => {
  const word = (n: number) =>
    `${WORDS[(seed + n) % WORDS.length]}${((seed * 7919 + n * 104_729) % 99_991).toString(36)}`;
  const own = Array.from({ length: 8 }, (_, i) => word(i)).join(' ');
  return `We decided that ${own} matters. The quarterly review number ${seed % 3} takes place in building ${seed % 3}.`;
};

class History {
  readonly known: Known[] = [];
  readonly #api: Api;
  readonly #store: Store;
  trajectory_id = '';
  scope_ids: string[] = [];
  box_ids: string[] = [];
  manifest_ids: string[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.#api = store.api(CALLER);
  }

  async begin(): Promise<void> {
    this.trajectory_id = (await this.#api.trajectories.create({ name: 'task' })).trajectory_id;
    const { scope_id } = await this.#api.scopes.create({ trajectory_id: this.trajectory_id, name: 'scope' });
    this.scope_ids.push(scope_id);
  }

  #of(kinds: readonly Kind[], index: number): Known | undefined {
    const some = this.known.filter(({ kind, deleted }) => kinds.includes(kind) && !deleted);
    return some[index % Math.max(1, some.length)];
  }

  #add(kind: Kind, id: string, texts: string[], sources: string[] = []): void {
    this.known.push({ kind, id, texts, sources, deleted: false });
  }

  readonly #scope = (index: number): string => this.scope_ids[index % this.scope_ids.length]!;

  async take(one: Step): Promise<void> {
    const api = this.#api;
    const { trajectory_id } = this;
    if (one.what === 'note') {
      const content = sentence(one.text);
      const title = `About ${sentence(one.text + 1).slice(0, 60)}`;
      const { note_id } = await api.notes.create({
        note_type: 'Fact',
        title,
        content,
        source_trajectory_ids: [trajectory_id],
      });
      this.#add('Note', note_id, [content, title]);
    } else if (one.what === 'turn') {
      const content = sentence(one.text);
      const metadata = { speaker: `speaker ${sentence(one.text + 2).slice(16, 50)}` };
      const turn = await api.turns.add({ scope_id: this.#scope(one.at), role: 'User', content, metadata });
      this.#add('Turn', turn.turn_id, [content, metadata.speaker]);
    } else if (one.what === 'packet') {
      const note = sentence(one.text);
      const { packet_id } = await api.packets.write({ packet_type: 'seen', payload: { note } });
      this.#add('Packet', packet_id, [note]);
    } else if (one.what === 'card') {
      const source = one.derived ? this.#of(['Turn', 'Card'], one.at) : undefined;
      const content = sentence(one.text);
      const derived_from = source ? [source.id] : [];
      const { card_id } = await api.cards.add({ content, derived_from, metadata: { about: content.slice(0, 40) } });
      this.#add('Card', card_id, [content], derived_from);
    } else if (one.what === 'update') {
      const note = this.#of(['Note'], one.at);
      if (!note) return;
      const content = sentence(one.text);
      await api.notes.update({ note_id: note.id, content });
      note.texts.push(content);
    } else if (one.what === 'delete') {
      const gone = this.#of(['Note', 'Artifact'], one.at);
      if (!gone) return;
      if (gone.kind === 'Note') await api.notes.delete({ note_id: gone.id });
      else await api.artifacts.delete({ artifact_id: gone.id });
      gone.deleted = true;
    } else if (one.what === 'artifact') {
      const content = sentence(one.text);
      const { artifact_id } = await api.artifacts.create({
        trajectory_id,
        artifact_type: 'Fact',
        name: content.slice(0, 50),
        content,
      });
      this.#add('Artifact', artifact_id, [content]);
    } else await this.#shape(one);
  }

  async #shape(one: Step): Promise<void> {
    const api = this.#api;
    if (one.what === 'box') {
      const cards = [this.#of(['Card'], one.at), this.#of(['Turn'], one.at)].flatMap((card) => card ?? []);
      const { box_id } = await api.boxes.create({ card_ids: cards.map(({ id }) => id) });
      if (one.at % 2 === 0) await api.boxes.seal({ box_id });
      this.box_ids.push(box_id);
    } else if (one.what === 'fork') {
      const source = this.box_ids[one.at % Math.max(1, this.box_ids.length)];
      if (source !== undefined) this.box_ids.push((await api.boxes.fork({ box_id: source })).box_id);
    } else if (one.what === 'checkpoint') await api.scopes.checkpoint({ scope_id: this.#scope(one.at) });
    else if (one.what === 'restore') {
      const restored = await api.scopes.restore({ scope_id: this.#scope(one.at) }).catch(() => undefined);
      if (restored) this.scope_ids.push(restored.scope_id);
    } else if (one.what === 'summarize') {
      const made = await api.scopes.summarize({ scope_id: this.#scope(one.at) });
      if (made.artifact) await this.#addSummary(made.artifact.artifact_id);
    } else if (one.what === 'above') await this.#summarizeSummaries(one.at);
    else if (one.what === 'assemble') {
      const { manifest_id } = await api.context.assemble({
        trajectory_id: this.trajectory_id,
        token_budget: 2000,
        query: 'What matters in the garden?',
      });
      this.manifest_ids.push(manifest_id);
    } else if (one.what === 'fold') {
      await foldAll(this.#store, TENANT, 1 + (one.at % 5));
      await mergeOnce(this.#store, TENANT);
    }
  }

  async #addSummary(artifact_id: string): Promise<void> {
    const { content, name } = await this.#api.artifacts.get({ artifact_id });
    const { sources } = await this.#api.artifacts.expand({ artifact_id });
    this.#add(
      'Artifact',
      artifact_id,
      [String(content), name],
      sources.map(({ id }) => id),
    );
  }

  /** A summary of a summary, as a client would store it. */
  async #summarizeSummaries(index: number): Promise<void> {
    const source = this.#of(['Artifact'], index);
    if (!source) return;
    const content = `In short: ${source.texts[0]!.slice(0, 120)}`;
    const { artifact_id } = await this.#api.artifacts.create({
      trajectory_id: this.trajectory_id,
      artifact_type: 'Summary',
      name: 'in short',
      content,
    });
    const participants = [artifact_id, source.id].map((entity_id) => ({ entity_type: 'Artifact' as const, entity_id }));
    await this.#api.edges.create({
      edge_type: 'SynthesizedFrom',
      participants,
      metadata: { why: content.slice(0, 60) },
    });
    this.#add('Artifact', artifact_id, [content], [source.id]);
  }

  /** What goes with these. */
  closure(ids: readonly string[]): Set<string> {
    const gone = new Set(ids);
    for (let size = -1; size !== gone.size; ) {
      size = gone.size;
      for (const { id, sources } of this.known) if (sources.some((source) => gone.has(source))) gone.add(id);
    }
    return gone;
  }
}

/** All extracts of texts that none of the others has. */
function extractsOf(texts: readonly string[], others: readonly string[]): Set<string> {
  const kept = new Set<string>();
  for (const one of others) for (let i = 0; i + EXTRACT <= one.length; i++) kept.add(one.slice(i, i + EXTRACT));
  const extracts = new Set<string>();
  for (const one of texts)
    for (let i = 0; i + EXTRACT <= one.length; i++) {
      const extract = one.slice(i, i + EXTRACT);
      if (!kept.has(extract)) extracts.add(extract);
    }
  return extracts;
}

/** Looks for extracts by one pass over a text. */
function found(extracts: ReadonlySet<string>, inText: string): string[] {
  const there: string[] = [];
  for (let i = 0; i + EXTRACT <= inText.length && there.length < 5; i++) {
    const part = inText.slice(i, i + EXTRACT);
    if (extracts.has(part)) there.push(part);
  }
  return there;
}

const bytesOf = (database: string): string =>
  readdirSync(dirname(database))
    .map((name) => readFileSync(join(dirname(database), name)).toString('latin1'))
    .join('\n');

/** Answers of reads about what is retained. */
async function answersOf(api: Api, history: History, retained: readonly Known[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const { kind, id } of retained) {
    if (kind === 'Note')
      answers[id] = (await api.notes.history({ note_id: id })).versions.map(({ content, title }) => [content, title]);
    else if (kind === 'Artifact')
      answers[id] = (await api.artifacts.history({ artifact_id: id })).versions.map(({ content, name }) => [
        content,
        name,
      ]);
    else if (kind === 'Turn') answers[id] = await api.turns.get({ turn_id: id });
    else if (kind === 'Card') answers[id] = await api.cards.get({ card_id: id });
    else answers[id] = await api.packets.get({ packet_id: id });
  }
  const ids = new Set(retained.map(({ id }) => id));
  for (const box_id of history.box_ids) {
    const { cards } = await api.boxes.cards({ box_id });
    answers[box_id] = cards.filter(({ card_id }) => ids.has(card_id));
  }
  return answers;
}

const expectGone = async (api: Api, { kind, id }: Known, erasure_id: string): Promise<void> => {
  const reads = {
    Note: () => api.notes.get({ note_id: id }),
    Artifact: () => api.artifacts.get({ artifact_id: id }),
    Turn: () => api.turns.get({ turn_id: id }),
    Card: () => api.cards.get({ card_id: id }),
    Packet: () => api.packets.get({ packet_id: id }),
  };
  await expect(reads[kind](), `${kind} ${id}`).rejects.toMatchObject({ status: 410, details: { erasure_id } });
};

const countsOf = (counts: readonly { entity_type: string; entities: number }[]) =>
  Object.fromEntries(counts.map(({ entity_type, entities }) => [entity_type, entities]));

const byKind = (some: readonly Known[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of some) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

let embedder: StandIn;
beforeAll(async () => {
  embedder = await startEmbedder();
});
afterAll(() => embedder.close());

async function forgetSome(
  kind: 'sqlite' | 'postgres',
  steps: readonly Step[],
  picks: readonly number[],
): Promise<void> {
  const { database, drop } = await freshDatabase(kind);
  const store = await Store.open({
    database,
    sweep_every_ms: 0,
    embedder: httpEmbedder({ url: embedder.url, model: 'stand-in', dimensions: 64 }),
  });
  try {
    const api = store.api(CALLER);
    const history = new History(store);
    await history.begin();
    for (const one of steps) await history.take(one);
    await store.embedded();
    const ids = [...new Set(picks.map((pick) => history.known[pick % Math.max(1, history.known.length)]?.id))].flatMap(
      (id) => id ?? [],
    );
    if (ids.length === 0) return;
    const gone = history.closure(ids);
    const forgotten = history.known.filter(({ id }) => gone.has(id));
    const retained = history.known.filter(({ id }) => !gone.has(id));
    const before = await answersOf(api, history, retained);
    const receipt = await api.memory.forget({ ids });
    expect(receipt.status).toBe('verified');
    expect(countsOf(receipt.erased)).toEqual(byKind(forgotten.filter(({ id }) => ids.includes(id))));
    expect(countsOf(receipt.derived)).toEqual(byKind(forgotten.filter(({ id }) => !ids.includes(id))));
    expect(await answersOf(api, history, retained)).toEqual(before);
    for (const one of forgotten) await expectGone(api, one, receipt.erasure_id!);
    // A rendering puts a space before a text.
    const others = retained.flatMap(({ texts }) => texts.map((one) => ` ${one}`));
    const extracts = extractsOf(
      forgotten.flatMap(({ texts }) => texts),
      others,
    );
    const query = forgotten.flatMap(({ texts }) => texts)[0]!.slice(0, 100);
    const reads = [
      await contentsOf(store, TENANT),
      JSON.stringify(await api.memory.recall({ query })),
      JSON.stringify(await api.search.query({ query })),
      JSON.stringify(
        await api.context.assemble({ trajectory_id: history.trajectory_id, token_budget: 4000, query: 'garden' }),
      ),
    ];
    for (const one of reads) expect(found(extracts, one)).toEqual([]);
    for (const manifest_id of history.manifest_ids) {
      const replay = await api.manifests.replay({ manifest_id }).catch((error: { status: number }) => error.status);
      expect(found(extracts, JSON.stringify(replay))).toEqual([]);
    }
    if (kind === 'sqlite') expect(found(extracts, bytesOf(database))).toEqual([]);
    const checked = await api.erasures.verify({ erasure_id: receipt.erasure_id!, bytes: true });
    expect(checked).toMatchObject({ verified: true, remaining: [] });
  } finally {
    await store.close();
  }
  expect(await illnesses(database)).toEqual([]);
  await drop();
}

const kinds = targetNames().filter((name) => name !== 'http');
describe.each(kinds)('forgetting in random histories on %s', (kind) => {
  it('FORGET-1 FORGET-2 FORGET-4 leaves nothing of what is forgotten, and everything else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 12, maxLength: 45 }),
        fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 }),
        (steps, picks) => forgetSome(kind, steps, picks),
      ),
      {
        numRuns: Number(process.env.CAIRN_FORGET_RUNS ?? 12),
        seed: Number(process.env.CAIRN_TEST_SEED ?? Date.now() % 2 ** 31),
        endOnFailure: true,
      },
    );
  }, 240_000);
});
