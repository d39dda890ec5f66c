/**
 * The seeds' own examples, as they stand there, sent over HTTP. Only placeholders are replaced: "uuid" by an id, "..." by
 * something. Where a seed writes alternatives (`"Active" | "Completed"`), each is tried.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Context, ThoughtChain, ToolState } from '#cairn/runtime/index.js';
import { databases } from '../support/http.js';
import { CheckpointSchema, type Checkpoint as SeedCheckpoint } from './seeds/checkpoint-schemas.js';
import { fixture, openSeedServer, type SeedServer } from './seeds/server.js';

for (const database of databases()) {
  describe(`seeds over HTTP on ${database}`, () => {
    let seeds: SeedServer;
    beforeAll(async () => {
      seeds = await openSeedServer(database);
    });
    afterAll(() => seeds.close());

    /** Sends what must be taken; gives the body. */
    const taken = async (method: string, path: string, body?: object | string) => {
      const answer = await seeds.send(method, path, body);
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      return answer.body;
    };
    const post = (path: string, body: object | string) => taken('POST', path, body);
    const get = (path: string) => taken('GET', path);
    const newTrajectory = async () =>
      (await post('/api/v1/trajectories', { name: 'Implement user auth' })).trajectory_id as string;
    const newScope = async (trajectory_id: string) =>
      (await post('/api/v1/scopes', { trajectory_id, name: 'Implementation phase', token_budget: 8000 }))
        .scope_id as string;

    describe('seed 000: cards and boxes', () => {
      const CARDS = '/projects/default/cards';

      it.each<[string, string, unknown]>([
        ['task.instruction', 'user', 'Please summarize this report'],
        ['agent.thought', 'assistant', 'I need to list key points first...'],
        ['tool.call', 'assistant', { tool_name: 'search', arguments: { q: '...' } }],
        ['tool.result', 'tool', { status: 'success', result: [] }],
        ['task.deliverable', 'assistant', { summary: '...', output: '...' }],
        ['sys.profile', 'system', { name: '...', llm_config: {} }],
        ['sys.rendered_prompt', 'system', 'You are ...'],
        ['sys.tools', 'system', { tools: [] }],
        ['meta.parent_pointer', 'system', { parent_agent_id: '...' }],
        ['task.result_fields', 'system', [{ name: 'summary' }]],
      ])('SEED-1 a card of the type %s is kept as it was sent', async (type, role, content) => {
        const { card_id } = await post(CARDS, { content, metadata: { type, role } });
        expect(await get(`${CARDS}/${card_id as string}`)).toMatchObject({ content, metadata: { type, role } });
      });

      it('SEED-1 a row of the table `cards` is taken with its NULLs, and read by each path', async () => {
        const card = {
          card_id: 'c-1',
          content: 'text',
          tool_calls: null,
          tool_call_id: null,
          ttl_seconds: null,
          expires_at: null,
          deleted_at: null,
          metadata: { type: 'agent.thought', role: 'assistant', step_id: 's', trace_id: 't' },
          created_at: '2025-12-07T12:00:00',
        };
        await post(CARDS, card);
        await post('/projects/default/boxes', { box_id: 'b-1', card_ids: ['c-1'] });
        expect(await get('/projects/default/boxes/b-1')).toMatchObject({ card_ids: ['c-1'] });
        expect(await post('/projects/default/boxes/batch', { box_ids: ['b-1', 'b-2'] })).toMatchObject({
          missing_box_ids: ['b-2'],
        });
        expect(await get('/projects/default/boxes/b-1/cards')).toMatchObject({ cards: [{ card_id: 'c-1' }] });
        expect(await post(`${CARDS}/batch`, { card_ids: ['c-2', 'c-1', 'c-2'] })).toMatchObject({
          cards: [{ card_id: 'c-1' }],
          missing_ids: ['c-2'],
        });
      });
    });

    describe('seed 001: packing', () => {
      it('SEED-2 the fixed recipe packs the instruction, the cards of boxes and the parent pointer', async () => {
        await post('/projects/default/profiles', { name: 'expert' });
        const { card_id } = await post('/projects/default/cards', { content: 'known before' });
        const box = { box_id: 'source', agent_id: 'principal', card_ids: [card_id as string] };
        await post('/projects/default/boxes', box);
        const packed = await post('/projects/default/pmo/pack_context', {
          tool_suffix: 'delegate_async',
          source_agent_id: 'principal',
          arguments: { profile_name: 'expert', instruction: 'Do it', input_box_ids: ['source'] },
          handover: {
            context_packing_config: {
              pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }],
              inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: true },
            },
          },
        });
        const { cards } = await get(`/projects/default/boxes/${packed.context_box_id as string}/cards`);
        expect(cards).toMatchObject([
          { content: 'Do it', metadata: { type: 'task.instruction', role: 'user' } },
          { content: 'known before' },
          { content: { parent_agent_id: 'principal' }, metadata: { type: 'meta.parent_pointer' } },
        ]);
        expect(packed).toMatchObject({ target_profile_box_id: expect.any(String) });
      });

      it('SEED-2 launch_principal is delegate_async to a new agent of a profile', async () => {
        const answer = await post('/projects/default/pmo/delegate_async', {
          target_strategy: 'new',
          target_ref: 'expert',
          instruction: 'Do it',
        });
        expect(answer).toMatchObject({ status: 'accepted', turn_epoch: expect.any(Number) });
      });
    });

    describe('seed 002: checkpoints', () => {
      const documentOf = (id: string, agent_id: string): SeedCheckpoint => {
        const runtimeState = { thoughtChain: new ThoughtChain(), context: new Context(), toolState: new ToolState() };
        return {
          version: '1.0.0',
          id,
          timestamp: Date.now(),
          execution_id: `${id}-run`,
          agent_id,

          snapshot: {
            thought_chain: runtimeState.thoughtChain.toJSON() as never,
            context: runtimeState.context.toJSON() as never,
            tool_state: runtimeState.toolState.toJSON() as never,
          },

          metadata: { step_number: 1, tokens_used: 100, duration_ms: 5, checkpoint_reason: 'step_complete' },
        };
      };

      const full = (id: string): SeedCheckpoint => ({
        ...documentOf(id, 'coder'),
        snapshot: {
          thought_chain: {
            current_step_id: 't1',
            steps: [
              {
                id: 't1',
                type: 'planning',
                content: 'Plan',
                reasoning: 'Because',
                confidence: 0.6,
                children: [],
                metadata: { any: [null] },
                timestamp: 1,
              },
            ],
          },
          context: {
            messages: [{ role: 'user', content: 'Go', tool_calls: { any: 1 }, tool_results: 'x' }],
            variables: { unset: null },
            memory: [{ key: 'k', value: null, importance: 3 }],
          },
          tool_state: {
            last_tool_call_id: 'c1',
            pending: ['c2'],
            completed: [{ tool_id: 'shell', arguments: {}, result: null, success: true, duration_ms: 2, timestamp: 1 }],
          },
        },
        metadata: {
          step_number: 1,
          total_steps_estimate: 4.5,
          tokens_used: 0,
          duration_ms: 0.5,
          checkpoint_reason: 'low_confidence',
        },
      });

      it('SEED-3 an export of the runtime fits the schema, is imported, and comes back fitting it', async () => {
        const checkpoint = documentOf(randomUUID(), 'coder');
        expect(CheckpointSchema.parse(checkpoint)).toEqual(checkpoint);
        await post('/api/v1/checkpoints/import', { checkpoint });
        const read = await get(`/api/v1/checkpoints/${checkpoint.id}`);
        expect(CheckpointSchema.parse(read)).toEqual(checkpoint);
      });

      it('SEED-3 a document with every field of the schema keeps each, and restores the runtime', async () => {
        const sent = full(randomUUID());
        const checkpoint = JSON.parse(JSON.stringify(CheckpointSchema.parse(sent))) as SeedCheckpoint;
        await post('/api/v1/checkpoints/import', { checkpoint });
        const read = CheckpointSchema.parse(await get(`/api/v1/checkpoints/${checkpoint.id}`));
        expect(read).toEqual(checkpoint);
        const runtimeState = {
          thoughtChain: ThoughtChain.fromJSON(read.snapshot.thought_chain),
          context: Context.fromJSON(read.snapshot.context as never),
          toolState: ToolState.fromJSON(read.snapshot.tool_state as never),
        };
        expect({
          thought_chain: runtimeState.thoughtChain.toJSON(),
          context: runtimeState.context.toJSON(),
          tool_state: runtimeState.toolState.toJSON(),
        }).toEqual(read.snapshot);
      });

      it('SEED-3 each reason is taken', async () => {
        for (const checkpoint_reason of CheckpointSchema.shape.metadata.shape.checkpoint_reason.options) {
          const checkpoint = documentOf(randomUUID(), 'coder');
          Object.assign(checkpoint.metadata, { checkpoint_reason });
          expect(await post('/api/v1/checkpoints/import', { checkpoint })).toMatchObject({
            metadata: { checkpoint_reason },
          });
        }
      });

      it('SEED-3 checkpoints with thoughts of low confidence are found', async () => {
        const { id } = full(randomUUID());
        await post('/api/v1/checkpoints/import', { checkpoint: full(id) });
        const { checkpoints } = await get('/api/v1/checkpoints?confidence_below=0.7&limit=500');
        expect((checkpoints as { id: string }[]).map((one) => one.id)).toContain(id);
        const used = await get('/api/v1/checkpoints?tool_id=shell&limit=500');
        expect((used.checkpoints as { id: string }[]).map((one) => one.id)).toContain(id);
      });
    });

    describe('seed 003: packets', () => {
      const PACKET = '/api/v1/memory/packet';

      /** The ids that the example calls uuid-1, uuid-2 and uuid-root. */
      const family = async () => {
        const write = async (lineage?: object) =>
          (await post(PACKET, { packet_type: 'event', payload: {}, lineage: lineage ?? null })).packet_id as string;
        const root = await write();
        const first = await write({ parent_ids: [root] });
        return { 'uuid-1': first, 'uuid-2': await write({ parent_ids: [root] }), 'uuid-root': root };
      };

      const filled = async (name: string): Promise<string> =>
        Object.entries(await family()).reduce(
          (text, [placeholder, id]) => text.replaceAll(`"${placeholder}"`, `"${id}"`),
          fixture(name),
        );

      it('SEED-4 the PacketEnvelope of the JSON schema is written, and read back as it was sent', async () => {
        const text = await filled('packet-envelope.json');
        const sent = JSON.parse(text) as { packet_id: string };
        expect(await post(PACKET, text)).toMatchObject({ packet_id: sent.packet_id, status: 'ok' });
        expect(await post(PACKET, text)).toMatchObject({ status: 'ok', written_tables: [] });
        expect(await get(`${PACKET}/${sent.packet_id}`)).toMatchObject({
          ...sent,
          timestamp: '2025-12-07T12:00:00.000Z',
          ttl: '2025-12-14T12:00:00.000Z',
        });
      });

      it('SEED-4 the PacketLineage alone is the lineage of another packet', async () => {
        const lineage = JSON.parse(await filled('packet-lineage.json')) as object;
        const { packet_id } = await post(PACKET, { packet_type: 'insight', payload: {}, lineage });
        expect(await get(`${PACKET}/${packet_id as string}`)).toMatchObject({ lineage });
      });

      it.each(['split', 'merge', 'transform', 'inference'])('SEED-4 derivation by %s', async (derivation_type) => {
        const parent_ids = Object.values(await family());
        const { packet_id } = await post(PACKET, {
          packet_type: 'insight',
          payload: {},
          lineage: { parent_ids, derivation_type },
        });
        expect(await get(`${PACKET}/${packet_id as string}`)).toMatchObject({ lineage: { derivation_type } });
      });

      it('SEED-4 what pydantic makes of the usage examples is written', async () => {
        const unset = {
          metadata: null,
          provenance: null,
          confidence: null,
          reasoning_block: null,
          thread_id: null,
          lineage: null,
          tags: [],
          ttl: null,
        };
        const basic = {
          packet_id: randomUUID(),
          packet_type: 'event',
          timestamp: '2025-12-07T11:59:59.123456',
          payload: { action: 'user_query', content: 'Find suppliers' },
          ...unset,
        };
        const { packet_id: parent } = await post(PACKET, basic);
        const derived = {
          ...basic,
          packet_id: randomUUID(),
          packet_type: 'insight',
          payload: { finding: 'Market trend identified' },
          thread_id: randomUUID(),
          lineage: { parent_ids: [parent], derivation_type: 'inference', generation: 0, root_packet_id: null },
          tags: ['market_analysis', 'auto_generated'],
          ttl: '2025-12-14T12:00:00.000001',
        };
        await post(PACKET, derived);
        expect(await get(`${PACKET}/${derived.packet_id}`)).toMatchObject({
          lineage: { parent_ids: [parent], generation: 1, root_packet_id: parent },
          ttl: '2025-12-14T12:00:00.000Z',
        });
      });

      it('SEED-4 the curl command of the seed is answered', async () => {
        const written = await seeds.curl(fixture('submit-packet.sh'));
        expect(written).toMatchObject({ status: 'ok', packet_id: expect.any(String) });
        const thread = await get('/api/v1/memory/thread/11111111-2222-3333-4444-555555555555?order=desc');
        expect((thread.packets as object[])[0]).toMatchObject({
          packet_type: 'event',
          payload: { action: 'user_query', content: 'Find HDPE' },
          tags: ['hdpe', 'search'],
        });
      });
    });

    describe('seed 004: entities', () => {
      it('SEED-5 every endpoint of the quick reference is there', async () => {
        const id = randomUUID();
        const endpoints = [
          ...['POST trajectories', `GET trajectories/${id}`, `PATCH trajectories/${id}`, `DELETE trajectories/${id}`],
          ...['POST scopes', `GET scopes/${id}`, `PATCH scopes/${id}`, `POST scopes/${id}/checkpoint`],
          ...[`POST scopes/${id}/close`, 'POST turns', `GET turns/${id}`],
          ...['POST artifacts', `GET artifacts/${id}`, `PATCH artifacts/${id}`, `DELETE artifacts/${id}`],
          ...['POST artifacts/batch', 'POST notes', `GET notes/${id}`, `PATCH notes/${id}`, `DELETE notes/${id}`],
          ...['POST notes/batch', 'POST agents/register', `POST agents/${id}/heartbeat`, `DELETE agents/${id}`],
          ...['POST locks/acquire', `DELETE locks/${id}/release`, `PATCH locks/${id}/extend`],
          ...['POST messages', 'GET messages', `POST messages/${id}/acknowledge`],
          ...['POST delegations', `POST delegations/${id}/accept`, `POST delegations/${id}/reject`],
          ...[`POST delegations/${id}/complete`, 'POST handoffs', `POST handoffs/${id}/accept`],
          ...[`POST handoffs/${id}/complete`, 'POST search'],
        ];
        for (const endpoint of endpoints) {
          const [method, path] = endpoint.split(' ') as [string, string];
          const { body } = await seeds.send(method, `/api/v1/${path}`, method === 'GET' ? undefined : {});
          expect(String(body.code), endpoint).not.toMatch(/^(ROUTE_NOT_FOUND|METHOD_NOT_ALLOWED)$/);
        }
      });

      it('SEED-5 a trajectory, with each outcome', async () => {
        for (const status of ['Success', 'Partial', 'Failure']) {
          const parent_trajectory_id = await newTrajectory();
          const example = {
            trajectory_id: randomUUID(),
            name: 'Implement user auth',
            status: 'Active',
            parent_trajectory_id,
            agent_id: randomUUID(),
          };
          expect(await post('/api/v1/trajectories', example)).toMatchObject({ ...example, outcome: null });
          const path = `/api/v1/trajectories/${example.trajectory_id}`;
          const outcome = { status, summary: 'What was accomplished', produced_artifacts: [], produced_notes: [] };
          await taken('PATCH', path, { status: 'Suspended' });
          await taken('PATCH', path, { status: 'Active' });
          const finished = { status: status === 'Failure' ? 'Failed' : 'Completed', outcome };
          expect(await taken('PATCH', path, finished)).toMatchObject({ ...example, ...finished });
        }
      });

      it('SEED-5 a scope, with its checkpoint', async () => {
        const trajectory_id = await newTrajectory();
        const example = {
          scope_id: randomUUID(),
          trajectory_id,
          name: 'Implementation phase',
          token_budget: 8000,
          tokens_used: 1500,
          is_active: true,
        };
        // tokens_used follows from the turns.
        expect(await post('/api/v1/scopes', example)).toMatchObject({ ...example, tokens_used: 0 });
        const checkpoint = { context_state: new Uint8Array([1, 2, 250]), recoverable: true };
        expect(await post(`/api/v1/scopes/${example.scope_id}/checkpoint`, checkpoint)).toMatchObject({
          checkpoint: { context_state: Buffer.from([1, 2, 250]).toString('base64'), recoverable: true },
        });
        const asList = { context_state: [1, 2, 250], recoverable: true };
        await post(`/api/v1/scopes/${example.scope_id}/checkpoint`, asList);
        expect(await post(`/api/v1/scopes/${example.scope_id}/close`, {})).toMatchObject({ is_active: false });
      });

      it.each(['User', 'Assistant', 'System', 'Tool'])('SEED-5 a turn of the role %s', async (role) => {
        const example = {
          turn_id: randomUUID(),
          scope_id: await newScope(await newTrajectory()),
          sequence: 1,
          role,
          content: 'The message text',
          token_count: 150,
          tool_calls: [{ id: 'c1', name: 'search', arguments: {} }],
          tool_results: [{ tool_call_id: 'c1', content: 'found' }],
        };
        expect(await post('/api/v1/turns', example)).toMatchObject(example);
        const asObjects = {
          scope_id: example.scope_id,
          role: role.toLowerCase(),
          content: 'again',
          tool_calls: example.tool_calls[0],
          tool_results: example.tool_results[0],
        };
        expect(await post('/api/v1/turns', asObjects)).toMatchObject({ ...asObjects, role, sequence: 2 });
      });

      it.each(['Code', 'Document', 'Decision', 'Summary'])(
        'SEED-5 an artifact of the type %s',
        async (artifact_type) => {
          const trajectory_id = await newTrajectory();
          const scope_id = await newScope(trajectory_id);
          for (const extraction_method of ['Explicit', 'Inferred', 'UserProvided'])
            for (const ttl of ['Persistent', 'Session', 'Scope', 'Duration(60000)']) {
              const example = {
                artifact_id: randomUUID(),
                trajectory_id,
                scope_id,
                artifact_type,
                name: 'auth-handler.ts',
                content: 'export function authenticate() {...}',
                provenance: { source_turn: 5, extraction_method, confidence: 0.95 },
                ttl,
              };
              expect(await post('/api/v1/artifacts', example)).toMatchObject(example);
              expect(await get(`/api/v1/artifacts/${example.artifact_id}`)).toMatchObject(example);
            }
        },
      );

      it.each(['Convention', 'Strategy', 'Gotcha', 'Procedure'])('SEED-5 a note of the type %s', async (note_type) => {
        const trajectory_id = await newTrajectory();
        const { artifact_id } = await post('/api/v1/artifacts', {
          trajectory_id,
          artifact_type: 'Fact',
          name: 'a',
          content: 'b',
        });
        const example = {
          note_id: randomUUID(),
          note_type,
          title: 'TypeScript strict mode requirement',
          content: 'This project uses strict TypeScript. Always add explicit types.',
          source_trajectory_ids: [trajectory_id],
          source_artifact_ids: [artifact_id],
          access_count: 15,
        };
        // How often it was recalled is counted here.
        expect(await post('/api/v1/notes', example)).toMatchObject({ ...example, access_count: 0 });
      });

      it('SEED-5 an agent', async () => {
        const example = {
          agent_id: randomUUID(),
          agent_type: 'coder',
          capabilities: ['write_code', 'run_tests'],
          memory_access: {
            read: [{ memory_type: 'Note', scope: 'all' }],
            write: [{ memory_type: 'Artifact', scope: 'own_trajectory' }],
          },
          can_delegate_to: ['reviewer', 'tester'],
        };
        expect(await post('/api/v1/agents/register', example)).toMatchObject(example);
        const current_trajectory_id = await newTrajectory();
        for (const status of ['active', 'idle', 'busy'])
          expect(
            await taken('PATCH', `/api/v1/agents/${example.agent_id}`, { status, current_trajectory_id }),
          ).toMatchObject({ ...example, status, current_trajectory_id });
        await post(`/api/v1/agents/${example.agent_id}/heartbeat`, {});
      });

      it.each<[unknown, string]>([
        ['Persistent', 'Persistent'],
        ['Session', 'Session'],
        ['Scope', 'Scope'],
        ['Ephemeral', 'Scope'],
        ['ShortTerm', 'Duration'],
        ['MediumTerm', 'Duration'],
        ['LongTerm', 'Duration'],
        ['Permanent', 'Persistent'],
        [{ Duration: 60_000 }, 'Duration'],
      ])('SEED-5 the lifetime %j', async (ttl, lifetime) => {
        const trajectory_id = await newTrajectory();
        const scope_id = await newScope(trajectory_id);
        const artifact = { trajectory_id, scope_id, artifact_type: 'Fact', name: 'a', content: 'b', ttl };
        expect(await post('/api/v1/artifacts', artifact)).toMatchObject({ lifetime });
      });

      it.each(['Supports', 'Contradicts', 'Supersedes', 'DerivedFrom', 'RelatesTo', 'SynthesizedFrom'])(
        'SEED-5 an edge of the type %s',
        async (edge_type) => {
          const ends = [await newTrajectory(), await newTrajectory()];
          const participants = ends.map((entity_id) => ({ entity_type: 'Trajectory', entity_id }));
          expect(await post('/api/v1/edges', { edge_type, participants })).toMatchObject({ edge_type });
        },
      );

      it('SEED-5 the patterns of a task, of context and of delegation', async () => {
        const trajectory_id = (await post('/api/v1/trajectories', { name: 'Fix bug #123' })).trajectory_id;
        const scope_id = await newScope(trajectory_id as string);
        await post('/api/v1/turns', { scope_id, role: 'User', content: 'It fails.' });
        const artifact = { trajectory_id, scope_id, artifact_type: 'Code', name: 'patch', content: 'fix' };
        const { artifact_id } = await post('/api/v1/artifacts', artifact);
        await post('/api/v1/notes', {
          note_type: 'Gotcha',
          title: 'Auth failures',
          content: 'The API returns 500 for auth failures, not 401',
          source_trajectory_ids: [trajectory_id],
        });
        await post(`/api/v1/scopes/${scope_id}/close`, {});
        await get(`/api/v1/artifacts/${artifact_id as string}`);
        for (const agent_id of ['agent-a', 'agent-b'])
          await post('/api/v1/agents/register', { agent_id, agent_type: 'coder', capabilities: ['code'] });
        const offer = {
          from_agent_id: 'agent-a',
          to_agent_id: 'agent-b',
          trajectory_id,
          scope_id: null,
          task_description: 'Review it',
          expected_completion: null,
          context: null,
        };
        const { delegation_id } = await post('/api/v1/delegations', offer);
        await post(`/api/v1/delegations/${delegation_id as string}/accept`, {});
        const result = { status: 'Success', output: 'Looks good.', artifacts: [], error: null };
        expect(await post(`/api/v1/delegations/${delegation_id as string}/complete`, { result })).toMatchObject({
          status: 'Completed',
        });
        const message = { from_agent_id: 'agent-a', to_agent_id: 'agent-b', message_type: 'query', payload: '{}' };
        const unset = { trajectory_id: null, scope_id: null, artifact_ids: null, expires_at: null };
        const sent = await post('/api/v1/messages', { ...message, ...unset, priority: 'High' });
        await post(`/api/v1/messages/${sent.message_id as string}/acknowledge`, { agent_id: null });
        const lock = { resource_type: 'file', resource_id: 'a', holder_agent_id: 'agent-a', timeout_ms: 1 };
        const { lock_id } = await post('/api/v1/locks/acquire', { ...lock, mode: 'EXCLUSIVE' });
        await taken('PATCH', `/api/v1/locks/${lock_id as string}/extend`, { additional_ms: 1000 });
        await taken('DELETE', `/api/v1/locks/${lock_id as string}/release`);
        const handoff = { from_agent_id: 'agent-a', to_agent_id: 'agent-b', trajectory_id, reason: 'Escalation' };
        const { handoff_id } = await post('/api/v1/handoffs', { ...handoff, context_snapshot: [1, 2] });
        await post(`/api/v1/handoffs/${handoff_id as string}/accept`, {});
        await post(`/api/v1/handoffs/${handoff_id as string}/complete`, {});
        expect(
          await taken('PATCH', `/api/v1/trajectories/${trajectory_id as string}`, { status: 'Completed' }),
        ).toMatchObject({ outcome: { status: 'Success' } });
      });

      it('SEED-5 a hit of a search in the seed’s spelling can be linked', async () => {
        const trajectory_id = await newTrajectory();
        for (const name of ['one', 'two'])
          await post('/api/v1/artifacts', { trajectory_id, artifact_type: 'Code', name, content: 'zanzibar' });
        const { results } = await post('/api/v1/search', {
          query: 'zanzibar',
          entity_types: ['Artifact'],
          filters: [
            { field: 'artifact_type', operator: 'eq', value: 'Code' },
            { field: 'status', operator: 'eq', value: 'Active' },
          ],
          limit: 10,
        });
        const participants = (results as { entity_type: string; id: string }[]).map(({ entity_type, id }) => ({
          entity_type,
          entity_id: id,
        }));
        expect(participants).toHaveLength(2);
        await post('/api/v1/edges', { edge_type: 'RelatesTo', participants });
      });
    });
  });
}
