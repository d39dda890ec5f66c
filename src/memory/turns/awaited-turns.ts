/** Links artifacts to the turn that they came from, when that is added after them. */
import type { NewPacket, Work } from '../../engine/index.js';
import { insertEdges, settleEdges } from '../edges/store.js';
import { derivedEdges } from '../versions/links.js';
import { readableArtifacts, takeAwaited } from '../versions/sources.js';
import type { OpenScope } from './store.js';

export interface PlacedTurn {
  readonly turn_id: string;
  readonly sequence: number;
}

/** Adds the edges that artifacts of the scope wait for; the event of the turns gives them their time. */
export async function linkAwaited(
  { call, tx }: Work,
  scope: Pick<OpenScope, 'scope_id' | 'awaited_turn'>,
  turns: readonly PlacedTurn[],
  told: NewPacket,
): Promise<NewPacket> {
  const { driver } = call;
  if ((scope.awaited_turn ?? 0) < turns[0]!.sequence) return told;
  const awaited = await takeAwaited(tx, scope.scope_id, turns.at(-1)!.sequence);
  if (awaited.length === 0) return told;
  const ids = new Map(turns.map(({ sequence, turn_id }) => [sequence, turn_id]));
  const sources = new Map(awaited.map(({ memory_id, sequence }) => [memory_id, ids.get(sequence)!]));
  const artifacts = await readableArtifacts(tx, [...sources.keys()], driver.now());
  const edges = artifacts.flatMap(({ memory_id, agent_id }) => {
    const from = { entity_type: 'Artifact', entity_id: memory_id } as const;
    return derivedEdges(from, [{ entity_type: 'Turn', entity_id: sources.get(memory_id)! }], agent_id);
  });
  if (edges.length === 0) return told;
  await insertEdges(tx, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  return { ...told, settle: (settled, recorded_at) => settleEdges(settled, edge_ids, recorded_at) };
}
