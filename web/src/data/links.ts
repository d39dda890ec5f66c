/** Where an entity is shown: every id in the inspector is a link by this table. */

const paths: Readonly<Record<string, (id: string) => string>> = {
  Manifest: (id) => `/contexts/${id}`,
  Context: (id) => `/contexts/${id}`,
  Note: (id) => `/memory/note/${id}`,
  Artifact: (id) => `/memory/artifact/${id}`,
  Summary: (id) => `/memory/artifact/${id}`,
  Digest: (id) => `/memory/artifact/${id}`,
  Card: (id) => `/memory/card/${id}`,
  Turn: (id) => `/memory/turn/${id}`,
  Trajectory: (id) => `/trajectories/${id}`,
  Scope: (id) => `/scopes/${id}`,
  Execution: (id) => `/runs/${id}`,
  Checkpoint: (id) => `/checkpoints/${id}`,
  Packet: (id) => `/lineage/packet/${id}`,
  Edge: (id) => `/lineage/edge/${id}`,
  Agent: (id) => `/agents/${id}`,
  AgentTurn: (id) => `/agent-turns/${id}`,
  Delegation: (id) => `/coordination?delegation=${id}`,
  Handoff: (id) => `/coordination?handoff=${id}`,
  Message: (id) => `/coordination?message=${id}`,
  Lock: (id) => `/live?lock=${id}`,
  Pause: (id) => `/live?pause=${id}`,
  Box: (id) => `/boxes/${id}`,
  Erasure: (id) => `/store?tab=erasures&erasure=${id}`,
  Job: (id) => `/store?tab=jobs&job=${id}`,
  Key: () => '/store?tab=keys',
  Tenant: () => '/store',
};

/** The path of an entity in the inspector; undefined for what has no page. */
export function pathOf(entity_type: string, id: string): string | undefined {
  const name = entity_type
    .split(/[_\s]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
  return paths[name]?.(encodeURIComponent(id));
}
