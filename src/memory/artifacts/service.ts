/** Use cases of artifacts. */
import type { In, LifetimeClass, Out, Ttl } from '../../engine/contract.js';
import { type Call, lifetimeClassOf, type Work } from '../../engine/index.js';
import { scopeHolder, sessionHolder, trajectoryHolder } from '../../engine/sql.js';
import { findCard } from '../../facts/sql.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { unknownEntity } from '../entities/errors.js';
import type { EntityRef } from '../entities/store.js';
import { refuseClosed, refuseFinished } from '../scopes/service.js';
import { findScope, lockScope, type ScopeRow } from '../scopes/store.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { isFinished, lockTrajectory, type TrajectoryRow } from '../trajectories/store.js';
import { prepareNew, versionUseCases } from '../versions/changes.js';
import type { LifetimeBounds } from '../versions/lifetimes.js';
import type { Links } from '../versions/links.js';
import type { Placement } from '../versions/service.js';
import { awaitTurn, refuseUnknownMemories, turnAt } from '../versions/sources.js';
import type { Origin, VersionRow } from '../versions/store.js';
import { type ChangeRules, listOf, type Noun, sharedFields } from '../versions/views.js';
import { artifacts as operations } from './contract.js';
import { type Artifact, type ArtifactInput, type ArtifactPatch, artifactInput } from './model.js';

const render = (call: Call, row: VersionRow, links: Links): Artifact => ({
  artifact_id: row.memory_id,
  trajectory_id: row.trajectory_id!,
  scope_id: row.scope_id,
  artifact_type: row.type,
  name: row.name!,
  provenance: JSON.parse(row.provenance!) as Artifact['provenance'],
  ...sharedFields(call, row, links),
});

/** The holder with which an artifact of this lifetime ends. */
function holderOf(trajectory_id: string, scope: ScopeRow | undefined, lifetime: LifetimeClass): string {
  if (lifetime === 'Session') return sessionHolder(trajectory_id);
  if (lifetime !== 'Scope') return trajectoryHolder(trajectory_id);
  if (!scope) throw invalid('a lifetime of Scope requires a scope_id');
  refuseClosed(scope);
  return scopeHolder(scope.scope_id);
}

/** The bounds of an artifact that Cairn makes from the content of a scope, and that outlives the scope. */
export const outlivesScope = (trajectory: TrajectoryRow): LifetimeBounds => ({
  in_scope: false,
  in_session: !isFinished(trajectory),
  holder: (lifetime) => holderOf(trajectory.trajectory_id, undefined, lifetime),
});

async function lockForChange({ call, tx }: Work, origin: Origin, ttl: Ttl | undefined): Promise<ChangeRules> {
  const { scope_id, held_by } = origin;
  const trajectory_id = origin.trajectory_id!;
  const trajectory = await lockTrajectory(tx, trajectory_id);
  await refuseFormerOwner(call, tx, trajectory_id);
  // The scope must not close concurrently: its erasure could miss the content.
  const isScope = scope_id !== null && held_by === scopeHolder(scope_id);
  const becomesScope = ttl !== undefined && lifetimeClassOf(ttl) === 'Scope';
  const scope = scope_id !== null && (isScope || becomesScope) ? await lockScope(tx, scope_id) : undefined;
  return { check: () => refuseFinished(trajectory!), holder: (lifetime) => holderOf(trajectory_id, scope, lifetime) };
}

export const artifactNoun: Noun<Artifact> & { readonly id: 'artifact_id' } = {
  kind: 'artifact',
  entity_type: 'Artifact',
  id: 'artifact_id',
  input: artifactInput,
  render,
  lockForChange,
};

/** Locks the trajectory and then the scope that an artifact names, and checks that it may be in them. */
async function lockContainers(
  { call, tx }: Work,
  input: ArtifactInput,
): Promise<{ trajectory: TrajectoryRow; scope: ScopeRow | undefined }> {
  const { scope_id } = input;
  const named = scope_id == null ? undefined : await findScope(tx, scope_id);
  if (scope_id != null && (!named || named.deleted_at !== null)) throw unknownEntity('scope_id', 'scope', [scope_id]);
  const trajectory_id = input.trajectory_id ?? named?.trajectory_id;
  if (trajectory_id === undefined) throw invalid('an artifact requires a trajectory_id or a scope_id');
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (!trajectory || trajectory.deleted_at !== null)
    throw unknownEntity('trajectory_id', 'trajectory', [trajectory_id]);
  await refuseFormerOwner(call, tx, trajectory_id, input.agent_id);
  if (named && named.trajectory_id !== trajectory_id) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `scope ${named.scope_id} is not in trajectory ${trajectory_id}: give the trajectory of the scope, or only the scope`,
    );
  }
  refuseFinished(trajectory);
  return { trajectory, scope: named && (await lockScope(tx, named.scope_id)) };
}

async function placeOf(work: Work, input: ArtifactInput, memory_id: string): Promise<Placement> {
  const { call, tx, now } = work;
  const { source_turn: sequence } = input;
  const { trajectory, scope } = await lockContainers(work, input);
  const { trajectory_id } = trajectory;
  const subjects = [trajectory.subject_ids, scope?.subject_ids ?? null];
  const sources: EntityRef[] = [];
  // The sequence is stored in any case; an edge links the turn while its scope is open.
  if (sequence != null && scope?.closed_at === null) {
    const turn_id = await turnAt(tx, scope.box_id, sequence);
    if (turn_id === undefined) await awaitTurn(tx, scope.scope_id, { sequence, memory_id });
    else {
      sources.push({ entity_type: 'Turn', entity_id: turn_id });
      subjects.push((await findCard(tx, turn_id))?.subject_ids ?? null);
    }
  }
  const derived = [...new Set(input.derived_from)];
  subjects.push(...(await refuseUnknownMemories({ call, query: tx, now }, 'artifact', 'derived_from', derived)));
  sources.push(...derived.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id })));
  const bounds = {
    in_scope: scope?.closed_at === null,
    // Its trajectory is not finished.
    in_session: true,
    holder: (lifetime: LifetimeClass) => holderOf(trajectory_id, scope, lifetime),
  };
  return { trajectory_id, scope_id: scope?.scope_id ?? null, thread_id: trajectory_id, bounds, sources, subjects };
}

/** Copies the members of `provenance` into the input; members that are given twice must agree. */
function withProvenance({ provenance, ...input }: ArtifactInput): ArtifactInput {
  for (const name of ['source_turn', 'extraction_method', 'confidence'] as const) {
    const [given, nested] = [input[name] ?? undefined, provenance?.[name] ?? undefined];
    if (given !== undefined && nested !== undefined && given !== nested) {
      throw invalid(`${name} is ${given}, but provenance.${name} is ${nested}: give one of them`);
    }
    Object.assign(input, { [name]: given ?? nested });
  }
  return input;
}

const useCases = versionUseCases(artifactNoun, {
  operations,
  create: async (call, sent: ArtifactInput) => {
    const input = withProvenance(sent);
    const { artifact_type: type, name, confidence = null } = input;
    const { source_turn = null, extraction_method = 'Explicit' } = input;
    const columns = { type, name, provenance: { source_turn, extraction_method, confidence }, sent };
    return prepareNew(call, artifactNoun, input, columns, (work, id) => placeOf(work, input, id));
  },
  columns: ({ artifact_type, ...shared }: ArtifactPatch) => ({ type: artifact_type, ...shared }),
  namedBy: ({ derived_from }) => derived_from,
});

export const { create, get, update, history, batch } = useCases;
const { delete: remove } = useCases;

export { remove as delete };

export async function list(call: Call, input: In<'artifacts.list'>): Promise<Out<'artifacts.list'>> {
  const { memories, ...page } = await listOf(call, artifactNoun, input, {
    type: input.artifact_type,
    name_prefix: input.name,
    trajectory_id: input.trajectory_id,
    scope_id: input.scope_id,
  });
  return { artifacts: memories, ...page };
}
