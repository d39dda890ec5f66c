/** Links artifacts to the turn that they came from, when that is added after them. */
import type { Tx } from '../driver/driver.js';
import { insertEdges, settleEdges } from '../store/edges.js';
import { derivedEdges } from '../store/memory-links.js';
import { artifactsOfScope } from '../store/memory-sources.js';
import type { NewPacket } from '../store/packets.js';
import type { OpenScope } from '../store/turns.js';
import type { Call } from './runtime.js';

export interface PlacedTurn {
  readonly turn_id: string;
  readonly sequence: number;
}

/** Adds the edges that artifacts of the scope wait for; the event of the turns gives them their time. */
export async function linkAwaited(
  call: Call,
  tx: Tx,
  scope: Pick<OpenScope, 'scope_id' | 'awaited_turn'>,
  turns: readonly PlacedTurn[],
  told: NewPacket,
): Promise<NewPacket> {
  const { tenant, driver } = call;
  if ((scope.awaited_turn ?? 0) < turns[0]!.sequence) return told;
  const ids = new Map(turns.map(({ sequence, turn_id }) => [sequence, turn_id]));
  const edges = (await artifactsOfScope(tx, tenant, scope.scope_id, driver.now())).flatMap((artifact) => {
    const { source_turn } = JSON.parse(artifact.provenance) as { source_turn: number | null };
    const turn_id = source_turn === null ? undefined : ids.get(source_turn);
    if (turn_id === undefined) return [];
    const from = { entity_type: 'Artifact', entity_id: artifact.memory_id } as const;
    return derivedEdges(from, [{ entity_type: 'Turn', entity_id: turn_id }], artifact.agent_id);
  });
  if (edges.length === 0) return told;
  await insertEdges(tx, tenant, edges);
  const edge_ids = edges.map(({ edge_id }) => edge_id);
  return { ...told, settle: (settled, recorded_at) => settleEdges(settled, tenant, edge_ids, recorded_at) };
}
