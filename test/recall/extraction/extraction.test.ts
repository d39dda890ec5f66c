/** Extraction: what is kept of turns, what is known already, and what was only recalled. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { endedJobs, somePolicy } from '../../support/nouns/summaries.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const linked = async (cairn: Api, entity_id: string, edge_type: 'DerivedFrom' | 'Supports' | 'Contradicts') =>
  (await cairn.edges.list({ entity_id, edge_type })).edges.map(({ participants }) =>
    participants.map((one) => one.entity_id),
  );

onEveryTarget('extraction', (test) => {
  it('EXTRACT-1 keeps facts as inferred, linked to the turns that say them', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    await say(cairn, scope_id, 'Hello there!');
    const { turn_id } = await say(cairn, scope_id, 'We decided to use PostgreSQL for the billing service.');
    const { artifacts, notes, sources, job_id } = await cairn.scopes.extract({ scope_id });
    expect(sources).toBe(2);
    expect(notes).toEqual([]);
    expect(artifacts).toMatchObject([
      {
        artifact_type: 'Decision',
        content: expect.stringContaining('PostgreSQL'),
        abstraction_level: 'L0',
        scope_id,
        trajectory_id,
        provenance: { extraction_method: 'Inferred', source_turn: 2, confidence: expect.any(Number) },
        metadata: { times_seen: 1, method: 'offline' },
      },
    ]);
    const { artifact_id } = artifacts[0]!;
    expect(await linked(cairn, artifact_id, 'DerivedFrom')).toEqual([[artifact_id, turn_id]]);
    expect(await cairn.jobs.get({ job_id: job_id! })).toMatchObject({ state: 'done', action: 'extract' });
    const expand = () => cairn.artifacts.expand({ artifact_id });
    expect((await expand()).sources.map(({ id }) => id)).toEqual([turn_id]);
    // What was looked at is not looked at again.
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ artifacts: [], notes: [], sources: 0 });
    await cairn.scopes.close({ scope_id, wait: true });
    expect((await refusalOf(expand())).code).toBe('CONTENT_ERASED');
  });

  it('EXTRACT-2 strengthens what is known instead of keeping it twice', async () => {
    const cairn = await test().freshTenant();
    for (const text of ['I prefer tabs over spaces.', 'I prefer tabs over spaces.']) {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      await cairn.scopes.extract({ scope_id });
    }
    const { notes } = await cairn.notes.list({});
    expect(notes).toMatchObject([
      { version: 2, metadata: { times_seen: 2, source_turn: 1, extraction_method: 'Inferred' } },
    ]);
    const { note_id } = notes[0]!;
    const { versions } = await cairn.notes.history({ note_id });
    expect(versions[1]!.confidence).toBeGreaterThan(versions[0]!.confidence!);
    expect(await linked(cairn, note_id, 'Supports')).toHaveLength(1);
  });

  it('LOAD-5 EXTRACT-2 EXTRACT-3 finds what is known beside texts of many pages, within one extraction too', async () => {
    const cairn = await test().freshTenant();
    const pages = 'Ben lives in Oslo. Anna lives in Rome, as everybody knows. '.repeat(2000);
    for (const i of [1, 2, 3]) await cairn.memory.remember({ text: `Chapter ${i}. ${pages}` });
    const known = await cairn.memory.remember({ text: 'Anna lives in Rome.' });
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'Anna lives in Rome. Ben lives in Oslo. Clara lives in Lima.');
    await say(cairn, scope_id, 'Ben lives in Bergen. Clara lives in Lima.');
    const made = await cairn.scopes.extract({ scope_id });
    expect(made.strengthened).toEqual([{ kind: 'note', id: known.id }]);
    expect(made.notes.map(({ content }) => content)).toEqual([
      'Ben lives in Oslo.',
      'Clara lives in Lima.',
      'Ben lives in Bergen.',
    ]);
    const [oslo, , bergen] = made.notes.map(({ note_id }) => note_id);
    expect(made.contradictions).toBe(1);
    expect(await linked(cairn, oslo!, 'Contradicts')).toEqual([[bergen, oslo]]);
  });

  it('EXTRACT-2 loses nothing that differs by a name, or by a word that narrows it', async () => {
    const cairn = await test().freshTenant();
    const said = async (text: string) => {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      return cairn.scopes.extract({ scope_id });
    };
    for (const text of [
      'We decided to run the nightly backup job on server A.',
      'We decided to run the nightly backup job on server B.',
      'We decided to assign the payments audit project to Will.',
      'We decided to assign the payments audit project to Anna.',
      'We decided to publish the public billing API of the shop.',
      'We decided to publish the billing API of the shop.',
    ])
      expect(await said(text)).toMatchObject({ artifacts: [{}], strengthened: [], contradictions: 0 });
  });

  it('EXTRACT-3 keeps what contradicts the known beside it, linked', async () => {
    const cairn = await test().freshTenant();
    const said = async (text: string) => {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      return cairn.scopes.extract({ scope_id });
    };
    const first = await said('I live in Berlin.');
    const second = await said('I live in Lisbon.');
    expect(second.contradictions).toBe(1);
    const { note_id } = first.notes[0]!;
    const other = second.notes[0]!;
    expect(await linked(cairn, note_id, 'Contradicts')).toEqual([[other.note_id, note_id]]);
    expect(await cairn.notes.get({ note_id })).toMatchObject({ contradicted_by: [other.note_id], version: 1 });
  });

  it('EXTRACT-3 names in the answer what contradicts each other, and IDEM-1 answers the same again', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    for (const text of ['I live in Berlin.', 'I live in Munich.', 'I love jazz.']) await say(cairn, scope_id, text);
    const options = { idempotency_key: randomUUID() };
    const first = await cairn.scopes.extract({ scope_id }, options);
    const [berlin, munich, jazz] = first.notes;
    expect(first.notes.map(({ contradicted_by }) => contradicted_by)).toEqual([
      [munich!.note_id],
      [berlin!.note_id],
      [],
    ]);
    expect(first.contradictions).toBe(1);
    expect(await cairn.scopes.extract({ scope_id }, options)).toEqual(first);
    await say(cairn, scope_id, 'I hate jazz.');
    const later = await cairn.scopes.extract({ scope_id });
    expect(later).toMatchObject({ contradictions: 1, notes: [{ contradicted_by: [jazz!.note_id] }] });
    expect(await cairn.scopes.extract({ scope_id }, options)).toEqual(first);
    for (const { note_id, contradicted_by } of [berlin!, munich!])
      expect(await cairn.notes.get({ note_id })).toMatchObject({ contradicted_by });
  });

  it('EXTRACT-3 takes before and after, with and without for contraries, and loses neither', async () => {
    const cairn = await test().freshTenant();
    const said = async (text: string) => {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      return cairn.scopes.extract({ scope_id });
    };
    for (const [one, other] of [
      ['Always run the tests before pushing.', 'Always run the tests after pushing.'],
      ['I prefer coffee with sugar.', 'I prefer coffee without sugar.'],
      ['We decided to keep logs on the server.', 'We decided to keep logs off the server.'],
    ] as const) {
      expect(await said(one)).toMatchObject({ strengthened: [], contradictions: 0 });
      expect(await said(other)).toMatchObject({ strengthened: [], contradictions: 1 });
      // Neither takes the place of the other when it is said again.
      for (const text of [one, other]) expect((await said(text)).strengthened).toHaveLength(1);
    }
    expect(await said('Always deploy the site from Oslo to Bergen.')).toMatchObject({ strengthened: [] });
    expect(await said('Always deploy the site from Bergen to Oslo.')).toMatchObject({ notes: [{}] });
  });

  it('EXTRACT-3 keeps what is taken back beside what it takes back, linked', async () => {
    const cairn = await test().freshTenant();
    const said = async (text: string) => {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      return cairn.scopes.extract({ scope_id });
    };
    for (const [before, after] of [
      ["I'm vegetarian.", "I'm not vegetarian."],
      ['I live in Rome.', "I don't live in Rome anymore."],
      ['Anna works at Acme.', 'Anna no longer works at Acme.'],
    ] as const) {
      const { note_id } = (await said(before)).notes[0]!;
      const { notes, contradictions, strengthened } = await said(after);
      expect({ contradictions, strengthened }).toEqual({ contradictions: 1, strengthened: [] });
      expect(await linked(cairn, note_id, 'Contradicts')).toEqual([[notes[0]!.note_id, note_id]]);
    }
  });

  it('EXTRACT-4 finds what a caller noted in its own words', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'I prefer tabs over spaces.');
    const { notes, artifacts } = await cairn.scopes.extract({ scope_id });
    const [fact] = [...notes, ...artifacts];
    expect(fact).toBeDefined();
    const other = await test().freshTenant();
    const content = fact!.content;
    const { note_id } = await other.notes.create({ note_type: 'Preference', title: 'tabs', content });
    const scope = await someScope(other);
    await say(other, scope.scope_id, 'I prefer tabs over spaces.');
    const again = await other.scopes.extract({ scope_id: scope.scope_id });
    expect(again).toMatchObject({ notes: [], artifacts: [], strengthened: [{ kind: 'note', id: note_id }] });
  });

  it('EXTRACT-4 reads what was remembered as it would be read in a turn', async () => {
    const cairn = await test().freshTenant();
    const told = async (text: string) => {
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, text);
      return cairn.scopes.extract({ scope_id });
    };
    // The first would be a note, the second an artifact: what a caller made of either is a note.
    for (const text of ['I prefer tabs over spaces.', 'We decided to use Elm for the editor.']) {
      const { id } = await cairn.memory.remember({ text });
      expect(await told(text)).toMatchObject({ notes: [], artifacts: [], strengthened: [{ kind: 'note', id }] });
    }
    await cairn.memory.remember({ text: 'My favorite color is teal.' });
    expect(await told('My favorite color is red.')).toMatchObject({ notes: [{}], contradictions: 1 });
    expect(await told('We decided to use React for the editor.')).toMatchObject({ contradictions: 1 });
    const { id } = await cairn.memory.remember({ text: 'Anna prefers green tea to coffee.' });
    const { scope_id } = await someScope(cairn);
    const metadata = { speaker: 'Anna' };
    await say(cairn, scope_id, 'I prefer green tea to coffee.', { metadata });
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ notes: [], strengthened: [{ id }] });
    await say(cairn, scope_id, 'I prefer coffee to green tea.', { metadata });
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ notes: [{}], contradictions: 1 });
  });

  it('EXTRACT-4 reads the text where a caller keeps something else as the fact in its metadata', async () => {
    const cairn = await test().freshTenant();
    const facts = [
      { content: 5 },
      { slot: 'lives', subject: 'user', value: null },
      { slot: 'lives', subject: 'user', value: 'Rome', negated: 'no', content: null, type: 'Code' },
      null,
      'lives',
      [1],
    ];
    const made: string[] = [];
    for (const fact of facts) {
      const note = { note_type: 'Fact', title: 'home', content: 'The user lives in Rome.' } as const;
      made.push((await cairn.notes.create({ ...note, metadata: { fact } })).note_id);
    }
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'I live in Rome.');
    const { notes, strengthened } = await cairn.scopes.extract({ scope_id });
    expect(notes).toEqual([]);
    expect(made).toContain(strengthened[0]!.id);
  });

  it('EXTRACT-5 takes nothing from what was recalled', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'I prefer tabs over spaces.', { metadata: { recalled: true } });
    await say(cairn, scope_id, 'I prefer tabs over spaces.');
    await say(cairn, scope_id, 'We decided to use Kafka for the events.', {
      metadata: { recalled: ['We decided to use Kafka for the events.'] },
    });
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ notes: [], artifacts: [], sources: 3 });
  });

  it('EXTRACT-5 takes nothing from an answer that repeats what its context showed', async () => {
    const cairn = await test().freshTenant();
    const fact = 'We decided to use Kafka for the events.';
    const first = await someScope(cairn);
    await say(cairn, first.scope_id, fact);
    const [known] = (await cairn.scopes.extract({ scope_id: first.scope_id })).artifacts;
    const { artifact_id, trajectory_id } = known!;
    const { scope_id } = await someScope(cairn, { trajectory_id });
    const answered = async (text: string) => {
      await say(cairn, scope_id, text, { role: 'Assistant' });
      return cairn.scopes.extract({ scope_id });
    };
    await say(cairn, scope_id, 'What carries the events?');
    const { trace } = await cairn.context.assemble({ scope_id, query: 'events', token_budget: 2000 });
    expect(trace.some(({ id, place }) => id === artifact_id && place !== null)).toBe(true);
    expect(await answered(fact)).toMatchObject({ artifacts: [], strengthened: [], sources: 2 });
    // Neither is it learned from what the window has of an earlier turn; but what a user says counts.
    const more = 'We decided to use PostgreSQL for the billing service.';
    await say(cairn, scope_id, more);
    expect((await cairn.scopes.extract({ scope_id })).artifacts).toHaveLength(1);
    await cairn.context.assemble({ trajectory_id, token_budget: 2000 });
    expect(await answered(more)).toMatchObject({ artifacts: [], strengthened: [] });
    await say(cairn, scope_id, more);
    expect((await cairn.scopes.extract({ scope_id })).strengthened).toHaveLength(1);
    // Nor from a note of a caller's.
    const noted = 'We decided to use Rust for the parser.';
    const note = { note_type: 'Fact', title: 'Parser', content: noted, source_trajectory_ids: [trajectory_id] };
    await cairn.notes.create(note);
    await cairn.context.assemble({ trajectory_id, query: 'parser', token_budget: 2000 });
    expect(await answered(noted)).toMatchObject({ artifacts: [], strengthened: [] });
    // Nor where only the turn was shown, and what it says is kept after the answer.
    const late = 'We decided to use Helm for the charts.';
    const other = await someScope(cairn, { trajectory_id });
    await say(cairn, other.scope_id, late);
    await cairn.context.assemble({ trajectory_id, token_budget: 2000 });
    await say(cairn, scope_id, late, { role: 'Assistant' });
    expect((await cairn.scopes.extract({ scope_id: other.scope_id })).artifacts).toHaveLength(1);
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ artifacts: [], strengthened: [] });
  });

  it('EXTRACT-5 takes nothing from an answer that repeats what was kept before it, however that was recalled', async () => {
    const cairn = await test().freshTenant();
    const fact = 'We decided to use Redis for caching.';
    const { id } = await cairn.memory.remember({ text: fact });
    const more = 'We decided to use Kafka for the events.';
    const text = `Some notes on the stack. ${more} The rest is open.`;
    const several = await cairn.memory.remember({ text });
    await cairn.memory.recall({ query: 'what caches?' });
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, `From memory: ${fact}`, { role: 'System' });
    await say(cairn, scope_id, fact, { role: 'Tool' });
    await say(cairn, scope_id, `${fact} ${more}`, { role: 'Assistant' });
    const nothing = { artifacts: [], notes: [], strengthened: [], contradictions: 0 };
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ ...nothing, sources: 3 });
    for (const note_id of [id, several.id]) expect(await cairn.notes.get({ note_id })).toMatchObject({ version: 1 });
    // What is new in an answer is learned, and what contradicts the known is linked.
    await say(cairn, scope_id, 'We decided to use Elm for the editor.', { role: 'Assistant' });
    await say(cairn, scope_id, 'We decided to use Memcached for caching.', { role: 'Assistant' });
    const learned = await cairn.scopes.extract({ scope_id });
    expect(learned).toMatchObject({ artifacts: [{}, {}], strengthened: [], contradictions: 1 });
    // A User's word is evidence.
    await say(cairn, scope_id, fact);
    expect(await cairn.scopes.extract({ scope_id })).toMatchObject({ strengthened: [{ id }] });
  });

  it('EXTRACT-10 takes an answer with the subject of its question, and an agreed proposal, from both turns', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const ids: string[] = [];
    for (const [role, content] of [
      ['Assistant', 'Which languages should the site support?'],
      ['User', 'English, German, Dutch.'],
      ['Assistant', "For the payments I'd suggest Mollie."],
      ['User', 'Mollie it is'],
      ['Assistant', "I'd also recommend a newsletter by Mailjet."],
      ['User', 'no, skip that'],
    ] as const)
      ids.push((await say(cairn, scope_id, content, { role })).turn_id);
    const { artifacts, notes } = await cairn.scopes.extract({ scope_id });
    expect(notes.map(({ content }) => content)).toEqual(['Languages, site support: English, German, Dutch.']);
    expect(artifacts).toMatchObject([
      { artifact_type: 'Decision', content: expect.stringMatching(/^Decided: .*Mollie/) },
    ]);
    const from = await linked(cairn, notes[0]!.note_id, 'DerivedFrom');
    expect(from.flat()).toEqual(expect.arrayContaining([ids[0], ids[1]]));
    expect((await linked(cairn, artifacts[0]!.artifact_id, 'DerivedFrom')).flat()).toEqual(
      expect.arrayContaining([ids[2], ids[3]]),
    );
    // Another answer to the same question contradicts the first.
    await say(cairn, scope_id, 'Which languages should the site support?', { role: 'Assistant' });
    await say(cairn, scope_id, 'English and Polish.');
    expect((await cairn.scopes.extract({ scope_id })).contradictions).toBe(1);
  });

  it('EXTRACT-8 reads English, and nothing that is asked for as a scene', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'Wir haben beschlossen, Redis zu verwenden. Vivo en Roma.');
    await say(cairn, scope_id, 'Pretend you are a pirate. I prefer rum.');
    await say(cairn, scope_id, 'Встреча состоится 06.05.2024 в офисе.');
    await say(cairn, scope_id, 'I live in Rome.');
    const { notes, artifacts } = await cairn.scopes.extract({ scope_id });
    expect(artifacts).toEqual([]);
    expect(notes.map(({ content }) => content)).toEqual([
      'Встреча состоится 06.05.2024 в офисе.',
      'The user lives in Rome.',
    ]);
  });

  it('EXTRACT-6 keeps out of what an agent may not write', async () => {
    const store = test();
    const tenant = `t-${randomUUID()}`;
    const admin = await store.as({ tenant });
    const first = await someScope(admin);
    await say(admin, first.scope_id, 'I prefer tabs over spaces.');
    const known = await admin.scopes.extract({ scope_id: first.scope_id });
    const ids = [...known.notes.map((one) => one.note_id), ...known.artifacts.map((one) => one.artifact_id)];
    const own = (memory_type: 'Turn' | 'Artifact' | 'Note') => ({ memory_type, scope: 'own_trajectory' as const });
    const rules = [own('Turn'), own('Artifact'), own('Note')];
    const memory_access = { read: rules, write: rules };
    await admin.agents.register({ agent_id: 'eve', agent_type: 'a', capabilities: ['x'], memory_access });
    const eve = await store.as({ tenant, agent: 'eve', role: 'write' });
    const { scope_id } = await someScope(eve);
    await say(eve, scope_id, 'I prefer tabs over spaces.');
    const made = await eve.scopes.extract({ scope_id });
    expect(made.strengthened).toEqual([]);
    expect([...made.notes, ...made.artifacts]).toMatchObject([{ agent_id: 'eve', version: 1 }]);
    for (const id of ids) expect(JSON.stringify(made)).not.toContain(id);
    expect((await refusalOf(eve.scopes.extract({ scope_id: first.scope_id }))).code).toBe('FORBIDDEN');
  });
});

onEveryTarget(
  'extraction in the background',
  (test) => {
    it('EXTRACT-7 goes by policies, at a threshold and before a scope closes; without one nothing is taken', async () => {
      const cairn = await test().freshTenant();
      const quiet = await someScope(cairn);
      await say(cairn, quiet.scope_id, 'We decided to use Redis for the cache.');
      await cairn.scopes.close({ scope_id: quiet.scope_id });
      expect((await cairn.artifacts.list({})).total).toBe(0);
      expect((await cairn.notes.list({})).total).toBe(0);
      await somePolicy(cairn, { type: 'TurnCount', count: 2 }, { actions: ['extract'] });
      await somePolicy(cairn, { type: 'ScopeClose' }, { actions: ['extract', 'summarize'] });
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, 'We decided to use PostgreSQL for the billing service.');
      await say(cairn, scope_id, 'Fine.');
      const [job] = await endedJobs(cairn, scope_id);
      expect(job).toMatchObject({ action: 'extract', trigger: 'TurnCount', sources: 2, state: 'done' });
      expect(job!.made).toHaveLength(1);
      await say(cairn, scope_id, 'I live in Lisbon.');
      const { made } = await cairn.scopes.close({ scope_id });
      expect(made.map(({ kind }) => kind)).toContain('summary');
      expect(made).toHaveLength(2);
    });

    it('EXTRACT-6 goes by what the agent of the scope may read, whoever closes it', async () => {
      const store = test();
      const tenant = `t-${randomUUID()}`;
      const admin = await store.as({ tenant });
      const rules = [{ memory_type: '*' as const, scope: 'own' as const }];
      const agentOf = async (agent_id: string) => {
        const memory_access = { read: rules, write: rules };
        await admin.agents.register({ agent_id, agent_type: 'a', capabilities: ['x'], memory_access });
        return store.as({ tenant, agent: agent_id, role: 'write' });
      };
      const [eve, bob] = [await agentOf('eve'), await agentOf('bob')];
      await somePolicy(admin, { type: 'ScopeClose' }, { actions: ['extract'] });
      const said = async (agent: Api, text: string, closer = agent) => {
        const { scope_id } = await someScope(agent);
        await say(agent, scope_id, text);
        await closer.scopes.close({ scope_id });
        return (await agent.notes.list({})).notes.map(({ metadata, contradicted_by }) => [
          metadata.times_seen,
          contradicted_by.length,
        ]);
      };
      expect(await said(bob, 'I prefer tabs over spaces. I live in Berlin.')).toHaveLength(2);
      const first = [1, 0];
      expect(await said(eve, 'I prefer tabs over spaces.', admin)).toEqual([first]);
      expect(await said(eve, 'I live in Lisbon.')).toEqual([first, first]);
      expect(await said(eve, 'I live in Lisbon.', admin)).toEqual([first, [2, 0]]);
      expect(await said(bob, 'Fine.')).toEqual([first, first]);
    });

    it('EXTRACT-7 does not fire for an artifact without a scope: there are no turns to look through', async () => {
      const cairn = await test().freshTenant();
      const trigger = { type: 'ArtifactCount', count: 1 } as const;
      const { policy_id } = await somePolicy(cairn, trigger, { actions: ['extract', 'summarize'] });
      const { scope_id, trajectory_id } = await someScope(cairn);
      const artifact = { artifact_type: 'Fact', name: 'fact', content: 'The invoice was checked in Oslo.' };
      await cairn.artifacts.create({ ...artifact, trajectory_id });
      await cairn.artifacts.create({ ...artifact, scope_id });
      const { jobs } = await cairn.jobs.list({ policy_id });
      const fired = jobs.map((job) => `${job.action} ${job.scope_id === null ? 'of none' : 'of a scope'}`);
      expect(fired.sort()).toEqual(['extract of a scope', 'summarize of a scope', 'summarize of none']);
    });
  },
  { sweep_every_ms: 3_600_000 },
);

/** What the extractor of one's own gives of the next turns. */
let told: readonly string[] = [];

onEveryTarget(
  'extraction by an extractor of one’s own',
  (test) => {
    it('EXTRACT-2 EXTRACT-3 compares the facts of one answer with each other', async () => {
      const cairn = await test().freshTenant();
      const { scope_id } = await someScope(cairn);
      await say(cairn, scope_id, 'What the billing service uses.');
      told = [
        'The billing service uses PostgreSQL.',
        'the billing service uses PostgreSQL!',
        'The billing service does not use PostgreSQL.',
      ];
      const { artifacts, contradictions } = await cairn.scopes.extract({ scope_id });
      expect(artifacts.map(({ content }) => content)).toEqual([told[0], told[2]]);
      expect(contradictions).toBe(1);
      const [uses, denies] = artifacts.map(({ artifact_id }) => artifact_id);
      expect(await linked(cairn, denies!, 'Contradicts')).toEqual([[denies, uses]]);
    });
  },
  {
    extractor: {
      name: 'own',
      extract: async ({ sources }) => ({
        facts: told.map((content) => ({
          kind: 'artifact',
          type: 'Fact',
          title: content,
          content,
          confidence: 0.9,
          source_ids: sources.map(({ id }) => id),
          subject: 'billing service',
          slot: '',
          value: '',
          negated: false,
        })),
        cost: { provider: 'own', model: null, input_tokens: 0, output_tokens: 0, duration_ms: 0, attempts: 1 },
      }),
    },
  },
);
