/** Links artifacts to their source turn if the turn is added after them. */
import type { NewPacket, Work } from '../../engine/index.js';
import { insertEdges, settleEdges } from '../edges/store.js';
import { derivedEdges } from '../versions/new-edges.js';
import { readableArtifacts, takeAwaited } from '../versions/sources.js';
import type { OpenScope } from './store.js';

/** Adds the edges that artifacts of the scope wait for. Returns the event of the turns, which settles them. */
export async function linkAwaited(
  { call, tx }: Work,
  scope: Pick<OpenScope, 'scope_id' | 'awaited_turn'>,
  turns: readonly { readonly turn_id: string; readonly sequence: number }[],
  packet: NewPacket,
): Promise<NewPacket> {
  if ((scope.awaited_turn ?? 0) < turns[0]!.sequence) return packet;
  const awaited = await takeAwaited(tx, scope.scope_id, turns.at(-1)!.sequence);
  if (awaited.length === 0) return packet;
  const turnIds = new Map(turns.map(({ sequence, turn_id }) => [sequence, turn_id]));
  const sources = new Map(awaited.map(({ memory_id, sequence }) => [memory_id, turnIds.get(sequence)!]));
  const artifacts = await readableArtifacts(tx, [...sources.keys()], call.driver.now());
  const edges = artifacts.flatMap(({ memory_id, agent_id }) => {
    const from = { entity_type: 'Artifact', entity_id: memory_id } as const;
    return derivedEdges(from, [{ entity_type: 'Turn', entity_id: sources.get(memory_id)! }], agent_id);
  });
  if (edges.length === 0) return packet;
  await insertEdges(tx, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  return { ...packet, settle: (settling, recorded_at) => settleEdges(settling, edge_ids, recorded_at) };
}
