/** Checkpoints of scopes: a sealed fork of the scope's box keeps its turns; restoring forks that into a new scope. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, startErasure, type Work } from '../../engine/index.js';
import { addEndings, checkpointHolder, scopeHolder } from '../../engine/sql.js';
import { makeFork, ownerOf } from '../../facts/index.js';
import { findBox, takeDeleteTime, takeSealTime } from '../../facts/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, present } from '../../kernel/index.js';
import type { Scope } from './model.js';
import { addScope, coveredOf, openScopeLocked, openTrajectoryLocked, readScope } from './service.js';
import { findCheckpoint, findScope, lockScope, putCheckpoint, type ScopeRow } from './store.js';

/** Ends a checkpoint, so that turns that nothing else pins are erased. Returns its holder. */
async function endCheckpoint({ tx, now }: Work, box_id: string, trajectory_id: string): Promise<string> {
  const holder = checkpointHolder(box_id);
  const ended_at = await takeDeleteTime(tx, now);
  await addEndings(tx, [{ holder, ended_at, thread_id: trajectory_id, box_id }]);
  return holder;
}

export async function checkpoint(call: Call, input: In<'scopes.checkpoint'>): Promise<Scope> {
  const { scope_id, context_state = null, recoverable = true } = input;
  let replaced: string | undefined;
  const answer = await change(call, {
    input,
    bytes: context_state?.length ?? 0,
    work: async (work) => {
      const { tx, now } = work;
      const scope = await openScopeLocked(work, scope_id);
      const before = await findCheckpoint(tx, scope_id);
      const source = await findBox(tx, scope.box_id);
      const box_id = recoverable ? newId() : null;
      if (box_id !== null) {
        const sealed_at = await takeSealTime(tx, now);
        const made = { box_id, agent_id: scope.agent_id, metadata: '{}', sent_hash: null, sealed_at };
        const held_by = checkpointHolder(box_id);
        await makeFork(tx, source!, source!.revision, { ...made, held_by }, now);
      }
      const { tokens_used, trajectory_id, forgotten_turns } = scope;
      // A scope has one checkpoint: the previous one ends.
      replaced = before?.box_id == null ? undefined : await endCheckpoint(work, before.box_id, trajectory_id);
      const turns = source!.length;
      await putCheckpoint(tx, {
        scope_id,
        box_id,
        context_state,
        tokens_used,
        turns,
        created_at: now,
        forgotten_turns,
      });
      const facts = { turns, tokens_used, recoverable, ...(box_id === null ? {} : { box_id }) };
      appendEvent(work, 'cairn.scope.checkpointed', { type: 'scope', id: scope_id }, facts, trajectory_id);
      return readScope(call, tx, scope_id);
    },
    remember: () => scope_id,
    again: (query, kept) => readScope(call, query, kept as string),
  });
  if (replaced !== undefined) startErasure(call, [replaced]);
  return answer;
}

/** Locks a scope, open or closed, and its trajectory, so that no other transaction replaces or deletes the checkpoint. */
async function lockForRestore(work: Work, scope_id: string): Promise<ScopeRow> {
  const { tx } = work;
  const { trajectory_id } = present(tx, 'scope', scope_id, await findScope(tx, scope_id));
  await openTrajectoryLocked(work, trajectory_id);
  return present(tx, 'scope', scope_id, await lockScope(tx, scope_id));
}

const lacksTurns = (scope_id: string, forgotten: number): CairnError =>
  new CairnError(
    'CONTENT_ERASED',
    `${forgotten} turn(s) of the checkpoint of scope ${scope_id} were forgotten: restore it with allow_erased to go on without them`,
    { scope_id, forgotten_turns: forgotten },
  );

export async function restore(call: Call, input: In<'scopes.restore'>): Promise<Out<'scopes.restore'>> {
  let from: string | null = null;
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const scope = await lockForRestore(work, input.scope_id);
      const kept = await findCheckpoint(tx, input.scope_id);
      const source = kept?.box_id == null ? undefined : await findBox(tx, kept.box_id);
      if (!kept || !source || source.ended_at !== null) {
        throw new CairnError('NOT_RECOVERABLE', `scope ${input.scope_id} has no checkpoint to restore from`);
      }
      if (kept.forgotten_turns > 0 && !input.allow_erased) throw lacksTurns(input.scope_id, kept.forgotten_turns);
      from = source.box_id;
      const scope_id = newId();
      const box_id = newId();
      const agent_id = ownerOf(call, undefined) ?? scope.agent_id;
      const made = { box_id, agent_id, metadata: '{}', sent_hash: null, held_by: scopeHolder(scope_id) };
      await makeFork(tx, source, source.revision, made, now);
      const facts = { restored_from: input.scope_id, box_id, turns: kept.turns };
      appendEvent(work, 'cairn.scope.restored', { type: 'scope', id: scope_id }, facts, scope.trajectory_id);
      const restored = {
        ...scope,
        ...coveredOf(scope, kept.turns),
        scope_id,
        parent_scope_id: null,
        agent_id,
        name: input.name ?? scope.name,
        token_budget: input.token_budget ?? scope.token_budget,
        tokens_used: kept.tokens_used,
        restored_from: input.scope_id,
        forgotten_turns: kept.forgotten_turns,
        sent_hash: null,
      };
      await addScope(work, restored, box_id);
      return { ...(await readScope(call, tx, scope_id)), context_state: kept.context_state };
    },
    remember: ({ scope_id }) => [scope_id, from],
    again: (query, kept) => restoredAgain(call, query, ...(kept as [string, string])),
  });
}

/** The context_state of the restored checkpoint, unless that was replaced. */
async function restoredAgain(call: Call, query: Query, scope_id: string, from: string): Promise<Out<'scopes.restore'>> {
  const scope = await readScope(call, query, scope_id);
  const kept = await findCheckpoint(query, scope.restored_from!);
  return { ...scope, context_state: kept?.box_id === from ? kept.context_state : null };
}
