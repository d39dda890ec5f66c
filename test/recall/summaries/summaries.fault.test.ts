/** Summaries under races and faults: made once, by whomever; and a write that never waits for what makes them. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Store, type StoreOptions } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { offlineSummarizer } from '#cairn/recall/summaries/offline-summarizer.js';
import type { Summarizer } from '#cairn/recall/summaries/summarizer.js';
import { illnesses } from '../../support/inspect/audit.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../../support/nouns/scopes.js';
import {
  endedJobs,
  jobsOf,
  sentence,
  somePolicy,
  summariesOf,
  synthesizedFrom,
  talk,
} from '../../support/nouns/summaries.js';
import { exitOf, sleep, until, within } from '../../support/server.js';
import { type Behaviour, type StandIn, startStandIn } from '../../support/stand-ins/model-endpoint.js';
import { freshDatabase, refusalOf, targetNames } from '../../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
/** Of which a sixth is for the offline way, on a machine that may have other things to do. */
const CLOSING_MS = 6000;
const WRITERS = 16;
/** More than the lease of a job, and than the wait before another attempt. */
const LATER_MS = 200_000;

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));

for (const kind of kinds) {
  describe(`summaries on ${kind}`, () => {
    let database: string;
    let drop: () => Promise<void>;
    let offset = 0;
    const stores: Store[] = [];
    const endpoints: StandIn[] = [];

    beforeEach(async () => {
      offset = 0;
      ({ database, drop } = await freshDatabase(kind));
    });
    afterEach(async () => {
      for (const endpoint of endpoints.splice(0)) await endpoint.close();
      for (const store of stores.splice(0)) await store.close();
      await drop();
    });

    const open = async (options: Partial<StoreOptions> = {}): Promise<Api> => {
      const clock_offset_ms = () => offset;
      const store = await Store.open({ database, sweep_every_ms: 3_600_000, clock_offset_ms, ...options });
      stores.push(store);
      return store.api(CALLER);
    };
    const endpoint = async (behaviour: Behaviour): Promise<StandIn> => {
      const started = await startStandIn(behaviour);
      endpoints.push(started);
      return started;
    };
    const closeAll = async () => {
      for (const store of stores.splice(0)) await store.close();
    };

    it(`SUM-22 ${WRITERS} writers on two stores that cross a threshold cause one summary`, async () => {
      const apis = [await open(), await open()];
      const [cairn] = apis as [Api, Api];
      await somePolicy(cairn, { type: 'TurnCount', count: 20 });
      await somePolicy(cairn, { type: 'DosageThreshold', percent: 80 });
      const { scope_id } = await someScope(cairn, { token_budget: 40 });
      const each = async (writer: number) => {
        for (let i = 0; i < 2; i++) await say(apis[writer % 2]!, scope_id, sentence(writer * 2 + i));
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => each(writer)));
      const jobs = await endedJobs(cairn, scope_id, 2);
      // 32 turns: 20 are crossed once, and so are 80 percent of 40 tokens.
      expect(jobs.map(({ trigger }) => trigger).sort()).toEqual(['DosageThreshold', 'TurnCount']);
      const summaries = await summariesOf(cairn, scope_id);
      const sources = await Promise.all(summaries.map((one) => synthesizedFrom(cairn, one.artifact_id)));
      expect(new Set(sources.flat()).size).toBe(sources.flat().length);
      expect(jobs.flatMap(({ made }) => made.map(({ id }) => id)).sort()).toEqual(
        summaries.map(({ artifact_id }) => artifact_id).sort(),
      );
      await closeAll();
      expect(await illnesses(database)).toEqual([]);
    });

    it('SUM-23 a result that comes when another has taken the job over is not written', async () => {
      let answer: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => (answer = resolve));
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const slow: Summarizer = {
        name: 'slow',
        summarize: async ({ sources }) => {
          answer();
          await held;
          const cost = {
            provider: 'slow',
            model: null,
            input_tokens: 0,
            output_tokens: 0,
            duration_ms: 0,
            attempts: 0,
          };
          return { text: 'too late', source_ids: sources.map(({ id }) => id), cost };
        },
      };
      const first = await open({ summarizer: slow });
      await somePolicy(first, { type: 'TurnCount', count: 3 });
      const { scope_id } = await someScope(first);
      await talk(first, scope_id, 3);
      await within(5000, asked, 'the first to begin');
      const second = await open();
      offset += LATER_MS;
      await endedJobs(second, scope_id);
      release();
      const [summary, ...more] = await summariesOf(second, scope_id);
      await closeAll();
      const third = await open();
      expect(await summariesOf(third, scope_id)).toEqual([summary]);
      expect(more).toEqual([]);
      expect(summary!.content).not.toBe('too late');
    });

    // How an endpoint fails is no matter of the database: all ways on one of them.
    it.each<Behaviour>(kind === 'sqlite' ? ['hangs', 'fails', 'nonsense'] : ['hangs'])(
      'SUM-25 an endpoint that %s delays no write, and the offline way is taken in the end',
      async (behaviour) => {
        const { base_url } = await endpoint(behaviour);
        const model = { kind: 'openai-compatible', base_url, model: 'm', timeout_ms: 200, max_retries: 0 } as const;
        const cairn = await open({ model });
        await somePolicy(cairn, { type: 'TurnCount', count: 3 });
        const { scope_id } = await someScope(cairn);
        await talk(cairn, scope_id, 3);
        await until('the first attempt', async () => (await jobsOf(cairn, scope_id))[0]!.attempts > 0);
        await talk(cairn, scope_id, 2, 3);
        expect(await contentsOf(cairn, scope_id)).toEqual([0, 1, 2, 3, 4].map(sentence));
        let seen = 0;
        await until('the offline way', async () => {
          const [job] = await jobsOf(cairn, scope_id);
          if (job!.state === 'waiting' && job!.attempts > seen) {
            seen = job!.attempts;
            offset += LATER_MS;
          }
          return job!.ended_at !== null;
        });
        expect(await jobsOf(cairn, scope_id)).toMatchObject([
          { state: 'done', attempts: 3, cost: { provider: 'offline' }, error: expect.any(String) },
        ]);
        const [summary] = await summariesOf(cairn, scope_id);
        expect(summary!.metadata).toMatchObject({ method: 'offline', fallback_reason: expect.any(String) });
        expect(JSON.stringify(await jobsOf(cairn, scope_id))).not.toContain('not what was asked for');
      },
    );

    it('MAN-9 texts of requests go when their scope ends, though a job keeps its turns for a while', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const slow: Summarizer = { name: 'slow', summarize: () => held.then(() => Promise.reject(new Error())) };
      const cairn = await open({ summarizer: slow });
      await somePolicy(cairn, { type: 'ScopeClose' });
      const { scope_id, trajectory_id } = await someScope(cairn);
      await cairn.context.assemble({ scope_id, user_input: 'okapi', instructions: 'tapir', query: 'quagga' });
      await say(cairn, scope_id, 'giraffe');
      const update = { status: 'Failed' as const };
      await cairn.trajectories.batch({ atomic: true, items: [{ operation: 'update', trajectory_id, update }] });
      await until('the erasure', async () => (await cairn.scopes.get({ scope_id })).erasure?.state === 'done');
      const words = ['giraffe', 'okapi', 'tapir', 'quagga'];
      expect(await wordsLeft(stores[0]!, 'default', 'cards', words)).toEqual(['giraffe']);
      release();
    });

    it('SUM-26 whatever hangs, a scope closes by its deadline, with what the offline way makes', async () => {
      const deaf: Summarizer = { name: 'deaf', summarize: () => new Promise(() => undefined) };
      const cairn = await open({ summarizer: deaf, limits: { max_closing_ms: CLOSING_MS } });
      await somePolicy(cairn, { type: 'ScopeClose' });
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 3);
      const { made, is_active } = await within(20_000, cairn.scopes.close({ scope_id }), 'the scope to close');
      expect({ is_active, kinds: made.map((one) => one.kind) }).toEqual({ is_active: false, kinds: ['summary'] });
      const [summary] = await summariesOf(cairn, scope_id);
      expect(summary!.metadata.fallback_reason).toContain('no answer within');
    });

    it('SUM-43 whatever hangs, a scope closes by its deadline with a digest of the offline way', async () => {
      const deaf: Summarizer = { name: 'deaf', summarize: () => new Promise(() => undefined) };
      const cairn = await open({ summarizer: deaf, limits: { max_closing_ms: CLOSING_MS } });
      const { scope_id } = await someScope(cairn, { retain: 'digest' });
      await talk(cairn, scope_id, 3);
      const { made, is_active } = await within(20_000, cairn.scopes.close({ scope_id }), 'the scope to close');
      expect({ is_active, kinds: made.map((one) => one.kind) }).toEqual({ is_active: false, kinds: ['digest'] });
      const [digest] = await summariesOf(cairn, scope_id);
      expect(digest!.metadata).toMatchObject({ digest: true, fallback_reason: expect.stringContaining('no answer') });
    });

    it('SUM-39 keeps nothing of what a summariser says when it fails', async () => {
      const chatty: Summarizer = {
        name: 'chatty',
        summarize: async ({ sources }) => JSON.parse(sources[0]!.text) as never,
      };
      const cairn = await open({ summarizer: chatty });
      await somePolicy(cairn, { type: 'ScopeClose' });
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, 'Topsecret is the word.');
      await cairn.scopes.close({ scope_id });
      const [job] = await jobsOf(cairn, scope_id);
      expect(job).toMatchObject({ state: 'done', error: 'it failed with SyntaxError' });
      const [summary] = await summariesOf(cairn, scope_id);
      expect(summary!.metadata.fallback_reason).toBe('it failed with SyntaxError');
      await cairn.trajectories.delete({ trajectory_id: job!.trajectory_id! });
      expect(await jobsOf(cairn, scope_id)).toMatchObject([{ state: 'done', error: null }]);
    });

    it('SUM-32 whatever hangs, what is kept for the jobs of a scope that has ended is made into something', async () => {
      const deaf: Summarizer = { name: 'deaf', summarize: () => new Promise(() => undefined) };
      const cairn = await open({ summarizer: deaf, limits: { max_closing_ms: CLOSING_MS } });
      await somePolicy(cairn, { type: 'TurnCount', count: 3 });
      await somePolicy(cairn, { type: 'ScopeClose' });
      // One has a job under way when it ends, the other one has none.
      const scopes = [await someScope(cairn), await someScope(cairn)];
      for (const [i, { scope_id }] of scopes.entries()) await talk(cairn, scope_id, 3 - i);
      await until('the first to be begun', async () => {
        const [job] = await jobsOf(cairn, scopes[0]!.scope_id);
        return job?.state === 'running';
      });
      const update = { status: 'Failed' as const };
      const items = scopes.map(({ trajectory_id }) => ({ operation: 'update' as const, trajectory_id, update }));
      await cairn.trajectories.batch({ atomic: true, items });
      for (const [i, { scope_id }] of scopes.entries()) {
        const jobs = await endedJobs(cairn, scope_id, 2 - i);
        expect(jobs.map(({ state }) => state)).toEqual(jobs.map(() => 'done'));
        const [summary, ...more] = await summariesOf(cairn, scope_id);
        expect(more).toEqual([]);
        expect(summary!.metadata).toMatchObject({ summary_of: { turns: 3 - i }, method: 'offline' });
        await until('the erasure', async () => {
          const { erasure } = await cairn.scopes.get({ scope_id });
          return erasure?.state === 'done' && erasure.kept === 0;
        });
      }
    });

    it('SUM-31 more jobs than are looked at together keep no other lease, and not the store from closing', async () => {
      const deaf: Summarizer = { name: 'deaf', summarize: () => new Promise(() => undefined) };
      const cairn = await open({ summarizer: deaf });
      await somePolicy(cairn, { type: 'TurnCount', count: 1 });
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 80);
      expect(await jobsOf(cairn, scope_id)).toHaveLength(80);
      const resource = { resource_type: 'f', resource_id: '1', holder_agent_id: 'a', lease_ms: 100 };
      const { lock_id } = await cairn.locks.acquire(resource);
      const ended = () => eventsOf(cairn, 'cairn.lock.expired', lock_id);
      await until('the lock to end', async () => (await ended()).length > 0, 5000);
      await within(5000, closeAll(), 'the store to close');
    });

    it('SUM-37 the turns of a scope that is handed over while a job is under way go into one summary', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const slow: Summarizer = {
        name: 'slow',
        summarize: async (request) => {
          await held;
          return offlineSummarizer.summarize(request);
        },
      };
      const cairn = await open({ summarizer: slow });
      for (const agent_id of ['giver', 'taker'])
        await cairn.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'] });
      await somePolicy(cairn, { type: 'TurnCount', count: 3 });
      const { scope_id, trajectory_id } = await someScope(cairn);
      const nested = await someScope(cairn, { trajectory_id, parent_scope_id: scope_id });
      await somePolicy(cairn, { type: 'ScopeClose' }, { scope_id: nested.scope_id });
      await talk(cairn, nested.scope_id, 1);
      await talk(cairn, scope_id, 3);
      await until('the job to be begun', async () => (await jobsOf(cairn, scope_id))[0]?.state === 'running');
      const parties = { from_agent_id: 'giver', to_agent_id: 'taker', reason: 'CapabilityMismatch' } as const;
      const { handoff_id } = await cairn.handoffs.create({ trajectory_id, scope_id, ...parties });
      const { new_scope_id } = await cairn.handoffs.accept({ handoff_id, agent_id: 'taker' });
      release();
      const [job] = await endedJobs(cairn, new_scope_id!);
      expect(job).toMatchObject({ state: 'done', sources: 3 });
      await talk(cairn, new_scope_id!, 3, 3);
      await endedJobs(cairn, new_scope_id!, 2);
      const turnsOf = async (id: string) =>
        (await summariesOf(cairn, id)).map(({ metadata }) => (metadata.summary_of as { turns: number }).turns);
      expect(await turnsOf(new_scope_id!)).toEqual([3, 3]);
      expect(await turnsOf(scope_id)).toEqual([]);
      // What was nested in it goes on nowhere, and is summarised as it ends.
      await endedJobs(cairn, nested.scope_id);
      expect(await turnsOf(nested.scope_id)).toEqual([1]);
    });

    it.runIf(kind === 'sqlite')(
      'SUM-38 a manual request whose sources keep changing is refused with the reason',
      async () => {
        const other = await open();
        const { scope_id } = await someScope(other);
        const outrun: Summarizer = {
          name: 'outrun',
          summarize: async (request) => {
            await other.scopes.summarize({ scope_id, max_sources: 1 });
            return offlineSummarizer.summarize(request);
          },
        };
        const cairn = await open({ summarizer: outrun });
        await talk(cairn, scope_id, 8);
        const refusal = await refusalOf(cairn.scopes.summarize({ scope_id }));
        expect(refusal).toMatchObject({ code: 'STATE_CONFLICT', status: 409, details: { scope_id } });
        expect(await summariesOf(cairn, scope_id)).toHaveLength(5);
      },
    );

    // Neither is a matter of the database.
    it.runIf(kind === 'sqlite')('SUM-34 an endpoint that keeps failing is not asked for every job', async () => {
      const standIn = await endpoint('fails');
      const { base_url } = standIn;
      const cairn = await open({ model: { kind: 'openai-compatible', base_url, model: 'm', max_retries: 0 } });
      await somePolicy(cairn, { type: 'TurnCount', count: 1 });
      const scopes = await Promise.all(Array.from({ length: 20 }, () => someScope(cairn)));
      for (const { scope_id } of scopes) await talk(cairn, scope_id, 1);
      for (const { scope_id } of scopes)
        expect(await endedJobs(cairn, scope_id)).toMatchObject([{ state: 'done', sources: 1 }]);
      // Three, and what was under way beside them.
      expect(standIn.asked).toBeLessThanOrEqual(8);
      const [last] = await summariesOf(cairn, scopes.at(-1)!.scope_id);
      expect(last!.metadata.fallback_reason).toContain('times in a row');
    });

    it.runIf(kind === 'sqlite')('SUM-35 a trajectory with many scopes asks a model for few at a time', async () => {
      let [now, most] = [0, 0];
      const busy: Summarizer = {
        name: 'busy',
        summarize: async (request) => {
          most = Math.max(most, ++now);
          await sleep(20);
          now--;
          return offlineSummarizer.summarize(request);
        },
      };
      const cairn = await open({ summarizer: busy });
      await somePolicy(cairn, { type: 'ScopeClose' });
      const { scope_id, trajectory_id } = await someScope(cairn);
      const scopes = await Promise.all(Array.from({ length: 15 }, () => someScope(cairn, { trajectory_id })));
      for (const one of [scope_id, ...scopes.map((scope) => scope.scope_id)]) await talk(cairn, one, 1);
      const { outcome } = await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
      expect(outcome!.produced_artifacts).toHaveLength(16);
      // Those who close it, and what is begun in the background.
      expect(most).toBeLessThanOrEqual(8);
    });

    it('SUM-27 a model that answers is believed, and what it cost is recorded', async () => {
      const { base_url } = await endpoint({ says: 'Invoices were checked.' });
      const model = { kind: 'openai-compatible', base_url, model: 'm', api_key: 'sk-secret' } as const;
      const cairn = await open({ model });
      const { scope_id } = await someScope(cairn);
      await talk(cairn, scope_id, 3);
      const { artifact, job_id } = await cairn.scopes.summarize({ scope_id });
      expect(artifact!.metadata).toMatchObject({ method: 'model', model: 'm' });
      const job = await cairn.jobs.get({ job_id: job_id! });
      expect(job.cost).toMatchObject({ model: 'm', attempts: 1 });
      expect(JSON.stringify([artifact, job])).not.toContain('sk-secret');
    });

    it('SUM-49 of the digest of a model, what the turns that it cites do not say is dropped', async () => {
      const statements = [
        { text: 'Anna lives in Lisbon (before: Oslo).', sources: ['s1', 's3'] },
        { text: 'languages of the site: English, German.', sources: ['s5'] },
        { text: 'Anna pays 500 euros for the flat.', sources: ['s1'] },
        { text: 'Anna lives in Lisbon with Boris.', sources: ['s3'] },
        { text: 'The invoices were all sent to the archive.', sources: ['s2'] },
        { text: 'Anna lives in Lisbon.', sources: ['s9'] },
        { text: 'Anna moved from Oslo to Lisbon.', sources: ['s1', 's3'] },
        { text: 'The site speaks English and German.', sources: ['s5'] },
      ];
      const standIn = await endpoint({ says: JSON.stringify({ statements }) });
      const { base_url } = standIn;
      const model = { kind: 'openai-compatible', base_url, model: 'm', max_retries: 0 } as const;
      const cairn = await open({ model });
      const digest = async () => {
        const { scope_id } = await someScope(cairn, { retain: 'digest' });
        const said = [
          ['User', 'Anna lives in Oslo.'],
          ['Assistant', 'Understood.'],
          ['User', 'Correction: Anna lives in Lisbon.'],
          ['Assistant', 'Which languages should the site support?'],
          ['User', 'English, German.'],
        ] as const;
        for (const [role, content] of said) await say(cairn, scope_id, content, { role });
        const { made } = await cairn.scopes.close({ scope_id });
        return cairn.artifacts.get({ artifact_id: made[0]!.id });
      };
      const first = await digest();
      expect(first.metadata).toMatchObject({ digest: true, method: 'model', model: 'm' });
      expect(String(first.content).split('\n')).toEqual([0, 1, 6, 7].map((at) => statements[at]!.text));
      // If more than half of an answer is made up, none of it is used.
      standIn.behaviour = { says: JSON.stringify({ statements: statements.slice(0, 6) }) };
      const second = await digest();
      expect(second.metadata).toMatchObject({ digest: true, method: 'offline' });
      expect(second.content).toContain('Anna lives in Lisbon (before: Oslo)');
    });

    it.runIf(kind === 'sqlite')(
      'SUM-41 answers that are of no use are paid for: the job has what all of its attempts cost',
      async () => {
        const { base_url } = await endpoint({ says: 'no facts at all' });
        const model = { kind: 'openai-compatible', base_url, model: 'm', max_retries: 0 } as const;
        const cairn = await open({ model });
        await somePolicy(cairn, { type: 'TurnCount', count: 3 }, { actions: ['extract'] });
        const { scope_id } = await someScope(cairn);
        await talk(cairn, scope_id, 3);
        for (const attempts of [1, 2]) {
          await until('an attempt', async () => {
            const [job] = await jobsOf(cairn, scope_id);
            return job!.state === 'waiting' && job!.attempts === attempts;
          });
          offset += LATER_MS;
        }
        expect(await endedJobs(cairn, scope_id)).toMatchObject([
          { cost: { model: 'm', input_tokens: 30, output_tokens: 15, attempts: 3 } },
        ]);
      },
    );

    it.runIf(kind === 'sqlite')(
      'SUM-41 what was asked for by hand and cost something is recorded, also where nothing is made',
      async () => {
        const { base_url } = await endpoint({ says: '{"facts":[]}' });
        const cairn = await open({ model: { kind: 'openai-compatible', base_url, model: 'm' } });
        const { scope_id } = await someScope(cairn);
        await talk(cairn, scope_id, 1);
        const { job_id, notes } = await cairn.scopes.extract({ scope_id });
        expect(notes).toEqual([]);
        expect(await jobsOf(cairn, scope_id)).toMatchObject([
          { job_id, state: 'done', made: [], cost: { model: 'm', input_tokens: 10, attempts: 1 } },
        ]);
      },
    );
  });
}

describe.skipIf(!targetNames().includes('sqlite'))('a process that is killed', () => {
  it('SUM-28 between taking a job and its result leaves it to the next, which makes one summary', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    let offset = 0;
    const options = { database, clock_offset_ms: () => offset };
    const before = await Store.open({ ...options, sweep_every_ms: 0 });
    await somePolicy(before.api(CALLER), { type: 'TurnCount', count: 3 });
    const { scope_id } = await someScope(before.api(CALLER));
    await talk(before.api(CALLER), scope_id, 3);
    const child = fork(join(import.meta.dirname, '../../support/children/job.mjs'), [database]);
    const exit = exitOf(child);
    const asked = new Promise<void>((resolve) =>
      child.on('message', (message: { asked?: true }) => {
        if (message.asked) resolve();
      }),
    );
    await within(20_000, asked, 'the job to be taken');
    child.kill('SIGKILL');
    await exit;
    expect(await jobsOf(before.api(CALLER), scope_id)).toMatchObject([{ state: 'running', attempts: 1 }]);
    await before.close();
    offset += LATER_MS;
    const after = await Store.open({ ...options, sweep_every_ms: 3_600_000 });
    const cairn = after.api(CALLER);
    expect(await endedJobs(cairn, scope_id)).toMatchObject([{ state: 'done', attempts: 2, sources: 3 }]);
    expect(await summariesOf(cairn, scope_id)).toHaveLength(1);
    await after.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
