/** Summarisers and extractors that answer anything at all: no write is lost or held up, and the offline way takes over. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Store, type StoreOptions } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Extractor } from '#cairn/recall/extraction/extractor.js';
import type { Job } from '#cairn/recall/jobs/model.js';
import { offlineSummarizer } from '#cairn/recall/summaries/offline-summarizer.js';
import type { Summarizer } from '#cairn/recall/summaries/summarizer.js';
import { illnesses } from '../../support/inspect/audit.js';
import { contentsOf, say, someScope } from '../../support/nouns/scopes.js';
import { endedJobs, jobsOf, sentence, somePolicy, summariesOf, talk } from '../../support/nouns/summaries.js';
import { within } from '../../support/server.js';
import { freshDatabase, refusalOf, targetNames } from '../../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const COST = { provider: 'odd', model: 'odd-1', input_tokens: 7, output_tokens: 3, duration_ms: 1, attempts: 1 };
const NEVER = new Promise<never>(() => undefined);
const HUGE = 'x'.repeat(50_000_000);

const throwing = (): never => {
  throw new TypeError('looked at');
};
const untouchable = new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing, ownKeys: throwing });
const getters = (names: readonly string[]) =>
  Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, { get: throwing, enumerable: true }])));
/** A list that says that it is longer than anything. */
const endless = new Array(2 ** 32 - 1);

type Answers = (ids: string[]) => unknown;

/** What neither a summariser nor an extractor may answer. */
const ANYTHING: Readonly<Record<string, Answers>> = {
  nothing: () => undefined,
  null: () => null,
  'a number': () => 5n,
  'a function': () => throwing,
  'what throws when it is looked at': () => untouchable,
  'getters that throw': () => getters(['text', 'source_ids', 'facts', 'cost', 'fallback_reason']),
  'a promise within': () => ({ text: NEVER, source_ids: NEVER, facts: NEVER, cost: NEVER }),
  'what says that it is a promise': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested.
    then: throwing,
  }),
  'an error that throws when it is looked at': () => Promise.reject(untouchable),
  'an error without a cost that can be': () =>
    Promise.reject(Object.assign(new Error('x'), { cost: { ...COST, input_tokens: 1n } })),
  'an error that is none': () => Promise.reject(undefined),
};

const SUMMARIES: Readonly<Record<string, Answers>> = {
  ...ANYTHING,
  'no text and no cost': () => ({ text: '', cost: null }),
  'no text and a BigInt': (source_ids) => ({ text: '', source_ids, cost: { ...COST, input_tokens: 5n } }),
  '50 MB': (source_ids) => ({ text: HUGE, source_ids, cost: COST }),
  'a String that is an object': (source_ids) => ({ text: new String('yes'), source_ids, cost: COST }),
  'half of a character': (source_ids) => ({ text: '\ud83d', source_ids, cost: COST }),
  'ids that are no texts': () => ({ text: 'Yes.', source_ids: [1, {}, Symbol('x')], cost: COST }),
  'endless ids': () => ({ text: 'Yes.', source_ids: endless, cost: COST }),
};

const aFact = (source_ids: unknown) => ({
  kind: 'note',
  type: 'Fact',
  title: 'Odd',
  content: 'Odd things are even.',
  confidence: 0.5,
  source_ids,
  subject: 'odd',
  slot: 'is',
  value: 'even',
  negated: false,
});
const facts =
  (more: object): Answers =>
  (ids) => ({ facts: [{ ...aFact(ids), ...more }], cost: COST });

const EXTRACTIONS: Readonly<Record<string, Answers>> = {
  ...ANYTHING,
  'endless facts': () => ({ facts: endless, cost: COST }),
  'a fact that throws': () => ({ facts: [untouchable], cost: COST }),
  '50 MB': facts({ content: HUGE }),
  'a subject of 50 MB': facts({ subject: HUGE }),
  'a subject that is no text': facts({ subject: { toLowerCase: throwing } }),
  'a slot that is no text': facts({ slot: 5n }),
  'a value with a half of a character': facts({ value: '\ud800' }),
  'a confidence that is no number': facts({ confidence: 1n }),
  'ids that are no texts': facts({ source_ids: [1] }),
  'no list of ids': facts({ source_ids: 'turn' }),
};

const DECIDED = 'We decided to use Rust for the new parser.';

describe.skipIf(!targetNames().includes('sqlite'))('a provider that answers', () => {
  let database: string;
  let drop: () => Promise<void>;
  const stores: Store[] = [];
  beforeEach(async () => {
    ({ database, drop } = await freshDatabase('sqlite'));
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
  const open = async (options: Partial<StoreOptions>): Promise<Api> => {
    const store = await Store.open({ database, sweep_every_ms: 3_600_000, ...options });
    stores.push(store);
    return store.api(CALLER);
  };
  const summarizing = (answers: Answers): Summarizer => ({
    name: 'odd',
    summarize: async ({ sources }) => answers(sources.map(({ id }) => id)) as never,
  });
  const extracting = (answers: Answers): Extractor => ({
    name: 'odd',
    extract: async ({ sources }) => answers(sources.map(({ id }) => id)) as never,
  });
  const isSound = ({ cost }: Job) => {
    const { provider, model, ...counts } = cost!;
    expect([typeof provider, model === null || typeof model === 'string']).toEqual(['string', true]);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThanOrEqual(0);
  };

  it.each(Object.keys(SUMMARIES))('SUM-42 with %s is replaced by the offline summary', async (name) => {
    const cairn = await open({ summarizer: summarizing(SUMMARIES[name]!) });
    await somePolicy(cairn, { type: 'ScopeClose' });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 3);
    const { artifact, job_id } = await within(20_000, cairn.scopes.summarize({ scope_id }), 'a summary');
    expect(artifact!.content).toContain(sentence(0));
    expect(artifact!.metadata).toMatchObject({ method: 'offline', provider: 'offline', model: null });
    isSound(await cairn.jobs.get({ job_id: job_id! }));
    await talk(cairn, scope_id, 2, 3);
    expect(await contentsOf(cairn, scope_id)).toEqual([0, 1, 2, 3, 4].map(sentence));
    await within(20_000, cairn.scopes.close({ scope_id }), 'the scope to close');
    expect(await summariesOf(cairn, scope_id)).toHaveLength(2);
    for (const job of await jobsOf(cairn, scope_id)) isSound(job);
  });

  it.each(Object.keys(EXTRACTIONS))('SUM-42 with %s is replaced by the offline facts', async (name) => {
    const cairn = await open({ extractor: extracting(EXTRACTIONS[name]!) });
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, DECIDED);
    const { artifacts, job_id } = await within(20_000, cairn.scopes.extract({ scope_id }), 'the facts');
    expect(artifacts).toMatchObject([{ artifact_type: 'Decision', metadata: { method: 'offline' } }]);
    isSound(await cairn.jobs.get({ job_id: job_id! }));
  });

  it.each<[string, () => never, string]>([
    ['no promise', () => ({ text: 'Yes.', source_ids: [], cost: COST }) as never, 'Yes.'],
    ['an error at once', throwing, sentence(0)],
    [
      'a promise of its own kind',
      // biome-ignore lint/suspicious/noThenProperty: it is what is tested.
      () => ({ then: (take: (answer: object) => void) => take({ text: 'Yes.', source_ids: [] }) }) as never,
      'Yes.',
    ],
  ])('SUM-42 with %s is heard or replaced', async (_, summarize, said) => {
    const cairn = await open({ summarizer: { name: 'odd', summarize } });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 1);
    expect((await cairn.scopes.summarize({ scope_id })).artifact!.content).toContain(said);
  });

  it('SUM-42 what can be kept is believed, but for a cost that cannot be', async () => {
    const told = { provider: 'odd', model: 5, input_tokens: 7, output_tokens: -5, attempts: 'many' };
    const answers: Answers = (ids) => ({
      text: 'Invoices were checked.',
      source_ids: [...ids, ...ids],
      facts: [{ ...aFact([...ids, ...ids]), happens_at: 5, ['__proto__']: { polluted: true } }],
      cost: told,
    });
    const cairn = await open({ summarizer: summarizing(answers), extractor: extracting(answers) });
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, DECIDED);
    const { artifact } = await cairn.scopes.summarize({ scope_id });
    const { notes } = await cairn.scopes.extract({ scope_id });
    expect(artifact!.content).toBe('Invoices were checked.');
    expect(notes).toMatchObject([{ content: 'Odd things are even.' }]);
    expect(notes[0]!.metadata).not.toHaveProperty('happens_at');
    const cost = { provider: 'odd', model: null, input_tokens: 7, output_tokens: 0, duration_ms: 0, attempts: 0 };
    for (const job of await jobsOf(cairn, scope_id)) expect(job.cost).toEqual(cost);
  });

  it('SUM-42 after it has changed what it was given changes nothing', async () => {
    const vandal: Summarizer = {
      name: 'vandal',
      summarize: async ({ sources }) => {
        for (const source of sources as { id: string; text: string }[])
          Object.assign(source, { id: 'other', text: 'Nothing.' });
        (sources as unknown[]).length = 1;
        return { text: 'Yes.', source_ids: ['other'], cost: COST };
      },
    };
    const cairn = await open({ summarizer: vandal });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 3);
    const { artifact, sources } = await cairn.scopes.summarize({ scope_id });
    expect(artifact!.content).toContain(sentence(2));
    expect(sources).toBe(3);
  });

  it('SUM-41 in vain is named with what it cost, and what was made instead is not its work', async () => {
    const cairn = await open({ summarizer: summarizing((source_ids) => ({ text: '', source_ids, cost: COST })) });
    await somePolicy(cairn, { type: 'ScopeClose' });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 2);
    await cairn.scopes.close({ scope_id });
    const [job] = await endedJobs(cairn, scope_id);
    expect(job!.cost).toMatchObject({ ...COST, duration_ms: expect.any(Number) });
    const [summary] = await summariesOf(cairn, scope_id);
    expect(summary!.metadata).toMatchObject({ method: 'offline', provider: 'offline', model: null });
  });

  it.each([1, 5])('SUM-41 and is outrun %i times is paid for all rounds', async (times) => {
    const other = await open({});
    const { scope_id } = await someScope(other);
    let left = times;
    const outrun: Summarizer = {
      name: 'outrun',
      summarize: async (request) => {
        if (left-- > 0) await other.scopes.summarize({ scope_id, max_sources: 1 });
        return { ...(await offlineSummarizer.summarize(request)), cost: COST };
      },
    };
    const cairn = await open({ summarizer: outrun });
    await talk(cairn, scope_id, 8);
    if (times < 5) expect(await cairn.scopes.summarize({ scope_id })).toMatchObject({ made: true });
    else expect((await refusalOf(cairn.scopes.summarize({ scope_id }))).code).toBe('STATE_CONFLICT');
    const rounds = Math.min(times + 1, 5);
    const spent = (await jobsOf(cairn, scope_id)).filter(({ cost }) => cost!.model === COST.model);
    expect(spent).toMatchObject([
      {
        state: times < 5 ? 'done' : 'failed',
        attempts: rounds,
        cost: { provider: 'odd', input_tokens: 7 * rounds, output_tokens: 3 * rounds, attempts: rounds },
      },
    ]);
  });

  it('SUM-41 nothing that can be made has a job all the same, and the same request is answered alike', async () => {
    const cairn = await open({ summarizer: summarizing(() => ({ text: '', source_ids: [], cost: COST })) });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 2);
    await cairn.scopes.summarize({ scope_id });
    const asked = { scope_id, target_level: 'L2' as const };
    const first = await cairn.scopes.summarize(asked, { idempotency_key: 'k' });
    expect(first).toMatchObject({ made: false, note: null, job_id: expect.any(String), sources: 0 });
    expect(await cairn.jobs.get({ job_id: first.job_id! })).toMatchObject({ made: [], cost: COST });
    expect(await cairn.scopes.summarize(asked, { idempotency_key: 'k' })).toEqual(first);
  });

  const paid = async (cairn: Api, scope_id: string) =>
    (await jobsOf(cairn, scope_id)).reduce((sum, { cost }) => sum + (cost?.input_tokens ?? 0), 0);

  it('SUM-41 several requests of one key at once is paid for all of them', async () => {
    let calls = 0;
    let all: () => void;
    const together = new Promise<void>((resolve) => {
      all = resolve;
    });
    const cairn = await open({
      summarizer: {
        name: 'odd',
        summarize: async (request) => {
          if (++calls === 3) all();
          await together;
          return { ...(await offlineSummarizer.summarize(request)), cost: COST };
        },
      },
    });
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 4);
    const ask = () => cairn.scopes.summarize({ scope_id }, { idempotency_key: 'k' });
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(calls).toBe(3);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await paid(cairn, scope_id)).toBe(3 * COST.input_tokens);
    const jobs = await jobsOf(cairn, scope_id);
    expect(jobs.map(({ state }) => state).sort()).toEqual(['done', 'failed', 'failed']);
    expect(jobs.find(({ state }) => state === 'failed')!.error).toBe('the same request was answered meanwhile');
    expect(await ask()).toEqual(answers[0]);
    expect(await paid(cairn, scope_id)).toBe(3 * COST.input_tokens);
  });

  it('SUM-41 and is outrun is paid for where the next round is given up', async () => {
    const other = await open({});
    const { scope_id } = await someScope(other);
    const giveUp = new AbortController();
    let rounds = 0;
    const cairn = await open({
      summarizer: {
        name: 'odd',
        summarize: async (request) => {
          if (++rounds > 1) {
            giveUp.abort(new Error('given up'));
            return NEVER;
          }
          await other.scopes.summarize({ scope_id, max_sources: 1 });
          return { ...(await offlineSummarizer.summarize(request)), cost: COST };
        },
      },
    });
    await talk(other, scope_id, 4);
    const asked = cairn.scopes.summarize({ scope_id }, { signal: giveUp.signal });
    await expect(asked).rejects.toThrow('given up');
    expect(rounds).toBe(2);
    expect(await paid(cairn, scope_id)).toBe(COST.input_tokens);
  });
});
