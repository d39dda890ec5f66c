/** `executions.live`: the state of an execution once, then the changes of each checkpoint. */
import type { Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, followStream, headOf, MAX_SCANNED_EVENTS } from '../../engine/index.js';
import { stillPermitted } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import type { CheckpointSummary, Snapshot } from '../checkpoints/model.js';
import { readState, showSummary } from '../checkpoints/states.js';
import { findCheckpoint } from '../checkpoints/store.js';
import { diffStates } from '../states/diff.js';
import { retainedStates } from '../states/retained-states.js';
import { snapshotOf } from '../states/snapshot-state.js';
import { executions as operations } from './contract.js';
import type { LiveItem } from './model.js';
import { openExecution } from './service.js';
import { nextMoves } from './views-store.js';

/** Events per read; the state of each is read when it is sent. */
const MOVES_PER_READ = 100;

/** The state that the reader has. It shares values with the retained states: it must not be altered. */
interface Sent {
  readonly checkpoint: CheckpointSummary;
  readonly snapshot: Snapshot;
}

export function live(call: Call, input: In<'executions.live'>): AsyncGenerator<LiveItem, void, undefined> {
  const { driver, tenant } = call;
  const { execution_id } = input;
  const query = driver.at(tenant);
  let position = 0;
  let last: Sent | undefined;
  const heartbeat = (): LiveItem => ({ ...nothing, token: tokenAt(call, last) });
  return followStream<LiveItem>(call, {
    open: async () => {
      const known = input.after === undefined ? undefined : checkedToken(input.after);
      // Position and state come from one snapshot: no event is lost or repeated between them.
      await driver.snapshot(tenant, async (reader) => {
        position = await headOf(reader);
        const { head_id } = await openExecution(reader, execution_id);
        last = head_id === null ? undefined : await stateAt(call, reader, head_id);
      });
      const token = tokenAt(call, last);
      return last === undefined || token === known ? heartbeat() : whole(token, last);
    },
    upTo: async function* (head, ended) {
      if (position < head) {
        await openExecution(query, execution_id);
        await stillPermitted(call, operations.live.touches, input);
      }
      while (position < head && !ended()) {
        const range = { after: position, until: Math.min(head, position + MAX_SCANNED_EVENTS) };
        const moves = await nextMoves(query, execution_id, range, MOVES_PER_READ);
        for (const { seq, imported, checkpoint_id } of moves) {
          position = seq;
          const next = await driver.snapshot(tenant, (reader) => stateAt(call, reader, checkpoint_id));
          const before = last;
          if (!next || (imported && before && !follows(next, before))) continue;
          last = next;
          const token = tokenAt(call, next);
          yield before ? changed(token, before, next) : whole(token, next);
        }
        if (moves.length < MOVES_PER_READ) position = range.until;
      }
    },
    heartbeat,
  });
}

const nothing = { checkpoint: null, snapshot: null, from_checkpoint_id: null, changes: null };

/** Copies: a reader in this process must not alter the retained states. */
const whole = (token: string, { checkpoint, snapshot }: Sent): LiveItem =>
  structuredClone({ ...nothing, token, checkpoint, snapshot });

const changed = (token: string, before: Sent, after: Sent): LiveItem =>
  structuredClone({
    ...nothing,
    token,
    checkpoint: after.checkpoint,
    from_checkpoint_id: before.checkpoint.id,
    changes: diffStates(before.snapshot as unknown as Json, after.snapshot as unknown as Json),
  });

async function stateAt(call: Call, query: Query, checkpoint_id: string | null): Promise<Sent | undefined> {
  const row = checkpoint_id === null ? undefined : await findCheckpoint(query, checkpoint_id);
  if (!row) return undefined;
  // Prefers the retained state, which shares values with the state before.
  const state = retainedStates.of(call).get(call.tenant, row.checkpoint_id) ?? (await readState(query, row));
  return { checkpoint: showSummary(row), snapshot: snapshotOf(state) };
}

const follows = (next: Sent, before: Sent): boolean => next.checkpoint.parent?.checkpoint_id === before.checkpoint.id;

const NO_STATE = '0'.repeat(16);

/** Identifies the reader's state: the epoch of the store, and a hash of the checkpoint id, which is never reused. */
const tokenAt = (call: Call, sent: Sent | undefined): string =>
  `${call.meta.store_epoch}.${sent ? sha256(sent.checkpoint.id).slice(0, 16) : NO_STATE}`;

function checkedToken(token: string): string {
  if (/^[0-9a-f]{16}\.[0-9a-f]{16}$/.test(token)) return token;
  throw new CairnError(
    'INVALID_CURSOR',
    `"${token}" is not a resume token: use one from this stream, or none to start with the whole state`,
  );
}
