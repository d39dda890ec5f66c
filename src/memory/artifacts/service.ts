/** Use cases of artifacts. */
import type { In, LifetimeClass, Out, Ttl } from '../../engine/contract.js';
import { actsAs, type Call, checkLifetime, isAnswerOf, lifetimeClassOf, type Work } from '../../engine/index.js';
import { scopeHolder, sessionHolder, trajectoryHolder } from '../../engine/sql.js';
import { checkUses } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { beyondAmong } from '../entities/access.js';
import type { EntityRef } from '../entities/store.js';
import { refuseClosed, refuseFinished } from '../scopes/service.js';
import { findScope, lockScope, type ScopeRow } from '../scopes/store.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { lockTrajectory } from '../trajectories/store.js';
import { type Action, perform, performBatch, refuseEmpty } from '../versions/changes.js';
import type { Links } from '../versions/links.js';
import {
  createMemory,
  deleteMemory,
  type Place,
  prepareContent,
  preparePatch,
  updateMemory,
} from '../versions/service.js';
import { awaitTurn, turnAt } from '../versions/sources.js';
import { knownMemories, type Origin, type VersionRow } from '../versions/store.js';
import {
  type Entered,
  historyOf,
  listOf,
  type Noun,
  readMemory,
  sharedFields,
  unknownEntity,
} from '../versions/views.js';
import { artifacts as operations } from './contract.js';
import { type Artifact, type ArtifactInput, type ArtifactPatch, artifactInput } from './model.js';

function render(call: Call, row: VersionRow, links: Links): Artifact {
  return {
    artifact_id: row.memory_id,
    trajectory_id: row.trajectory_id!,
    scope_id: row.scope_id,
    artifact_type: row.type,
    name: row.name!,
    provenance: JSON.parse(row.provenance!) as Artifact['provenance'],
    ...sharedFields(call, row, links),
  };
}

/** What an artifact with this lifetime ends with. */
function holderOf(trajectory_id: string, scope: ScopeRow | undefined, lifetime: LifetimeClass): string {
  if (lifetime === 'Session') return sessionHolder(trajectory_id);
  if (lifetime !== 'Scope') return trajectoryHolder(trajectory_id);
  if (!scope) throw invalid('a lifetime that ends with the scope needs a scope_id');
  refuseClosed(scope);
  return scopeHolder(scope.scope_id);
}

async function enter({ call, tx }: Work, origin: Origin, ttl: Ttl | undefined): Promise<Entered> {
  const { trajectory_id, scope_id, held_by } = origin;
  const trajectory = await lockTrajectory(tx, trajectory_id!);
  await refuseFormerOwner(call, tx, trajectory_id);
  // Content must not be given to a scope that closes at the same time: its erasure may already be over.
  const ofScope = scope_id !== null && held_by === scopeHolder(scope_id);
  const willBe = ttl !== undefined && lifetimeClassOf(ttl) === 'Scope';
  const scope = scope_id !== null && (ofScope || willBe) ? await lockScope(tx, scope_id) : undefined;
  return { check: () => refuseFinished(trajectory!), holder: (lifetime) => holderOf(trajectory_id!, scope, lifetime) };
}

export const artifactNoun: Noun<Artifact> = {
  kind: 'artifact',
  entity_type: 'Artifact',
  not_found: 'ARTIFACT_NOT_FOUND',
  render,
  enter,
};

/** Locks the trajectory and the scope that an artifact names, in that order, and sees that it may belong to them. */
async function belongTo(
  { call, tx }: Work,
  input: ArtifactInput,
): Promise<{ trajectory_id: string; scope: ScopeRow | undefined }> {
  const { scope_id } = input;
  const named = scope_id == null ? undefined : await findScope(tx, scope_id);
  if (scope_id != null && (!named || named.deleted_at !== null)) throw unknownEntity('scope_id', 'scope', [scope_id]);
  const trajectory_id = input.trajectory_id ?? named?.trajectory_id;
  if (trajectory_id === undefined) throw invalid('an artifact needs a trajectory_id, or the scope_id of one');
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (!trajectory || trajectory.deleted_at !== null)
    throw unknownEntity('trajectory_id', 'trajectory', [trajectory_id]);
  await refuseFormerOwner(call, tx, trajectory_id, input.agent_id);
  if (named && named.trajectory_id !== trajectory_id) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `scope ${named.scope_id} is not in trajectory ${trajectory_id}: name the trajectory of the scope, or the scope alone`,
    );
  }
  refuseFinished(trajectory);
  return { trajectory_id, scope: named && (await lockScope(tx, named.scope_id)) };
}

async function placeOf(
  work: Work,
  input: ArtifactInput,
  { ttl, memory_id }: { readonly ttl: Ttl; readonly memory_id: string },
): Promise<Place> {
  const { call, tx, now } = work;
  const { trajectory_id, scope } = await belongTo(work, input);
  const held_by = holderOf(trajectory_id, scope, lifetimeClassOf(ttl));
  const sources: EntityRef[] = [];
  // The number is kept whatever became of the turn; it is a link where the turn can be read.
  const turn_id =
    input.source_turn == null || !scope || scope.closed_at !== null
      ? undefined
      : await turnAt(tx, scope.box_id, input.source_turn);
  if (turn_id !== undefined) sources.push({ entity_type: 'Turn', entity_id: turn_id });
  else if (input.source_turn != null && scope?.closed_at === null)
    await awaitTurn(tx, scope.scope_id, { sequence: input.source_turn, memory_id });
  const derived = [...new Set(input.derived_from)];
  const known = await knownMemories(tx, derived, now, { kind: 'artifact' });
  const beyond = await beyondAmong(call, tx, 'Artifact', derived);
  const missing = derived.filter((id) => !known.has(id) || beyond.includes(id));
  if (missing.length > 0) throw unknownEntity('derived_from', 'artifact', missing);
  sources.push(...derived.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id })));
  return { trajectory_id, scope_id: scope?.scope_id ?? null, thread_id: trajectory_id, held_by, sources };
}

/** With the provenance in members of its own, in which a create takes it; where both say something, they must agree. */
function withProvenance(sent: ArtifactInput): ArtifactInput {
  const { provenance, ...input } = sent;
  for (const name of ['source_turn', 'extraction_method', 'confidence'] as const) {
    const [given, answered] = [input[name] ?? undefined, provenance?.[name] ?? undefined];
    if (given !== undefined && answered !== undefined && given !== answered) {
      throw invalid(`${name} is ${given}, but provenance.${name} is ${answered}: give one of them`);
    }
    Object.assign(input, { [name]: given ?? answered });
  }
  return input;
}

async function prepareCreate(call: Call, sent: ArtifactInput): Promise<Action<Artifact>> {
  const input = withProvenance(sent);
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
  const { bytes, ...prepared } = await prepareContent(call, input.content, input.name, input.metadata);
  const { artifact_id, ttl = 'Persistent' } = input;
  checkLifetime(input.lifetime, ttl);
  const memory = {
    memory_id: artifact_id,
    sent_hash: artifact_id === undefined ? null : sha256(canonical({ ...sent, artifact_id: null } as unknown as Json)),
    agent_id,
    fields: {
      type: input.artifact_type,
      name: input.name,
      abstraction_level: input.abstraction_level ?? 'L0',
      provenance: {
        source_turn: input.source_turn ?? null,
        extraction_method: input.extraction_method ?? 'Explicit',
        confidence: input.confidence ?? null,
      },
      metadata: input.metadata ?? {},
      ttl,
    },
    expires_at: input.expires_at,
    isAnswered: (answer: object) => isAnswerOf(artifactInput, answer, sent),
    prepared,
    place: (work: Work, memory_id: string) => placeOf(work, input, { ttl, memory_id }),
  };
  return { bytes, work: (work) => createMemory(work, artifactNoun, memory) };
}

const CHANGEABLE = ['artifact_type', 'name', 'content', 'abstraction_level', 'confidence', 'ttl', 'metadata'] as const;

async function prepareUpdate(call: Call, artifact_id: string, patch: ArtifactPatch): Promise<Action<Artifact>> {
  refuseEmpty(patch, CHANGEABLE);
  const { artifact_type, ...shared } = patch;
  const { bytes, ...change } = await preparePatch(call, artifact_id, { type: artifact_type, ...shared });
  return { bytes, work: (work) => updateMemory(work, artifactNoun, change) };
}

const prepareDelete = (artifact_id: string): Action<null> => ({
  bytes: 0,
  work: (work) => deleteMemory(work, artifactNoun, artifact_id),
});

export const create = async (call: Call, input: In<'artifacts.create'>): Promise<Artifact> =>
  perform(call, artifactNoun, input, await prepareCreate(call, input));

export const get = (call: Call, input: In<'artifacts.get'>): Promise<Artifact> =>
  readMemory(call, artifactNoun, input.artifact_id, input.as_of);

export async function list(call: Call, input: In<'artifacts.list'>): Promise<Out<'artifacts.list'>> {
  const { memories, ...page } = await listOf(call, artifactNoun, input, {
    type: input.artifact_type,
    name_prefix: input.name,
    trajectory_id: input.trajectory_id,
    scope_id: input.scope_id,
  });
  return { artifacts: memories, ...page };
}

export async function update(call: Call, input: In<'artifacts.update'>): Promise<Artifact> {
  const { artifact_id, ...patch } = input;
  return perform(call, artifactNoun, input, await prepareUpdate(call, artifact_id, patch));
}

async function remove(call: Call, input: In<'artifacts.delete'>): Promise<void> {
  await perform(call, artifactNoun, input, prepareDelete(input.artifact_id));
}

export { remove as delete };

export const history = (call: Call, input: In<'artifacts.history'>): Promise<Out<'artifacts.history'>> =>
  historyOf(call, artifactNoun, input.artifact_id, input);

export const batch = (call: Call, input: In<'artifacts.batch'>): Promise<Out<'artifacts.batch'>> =>
  performBatch<Artifact, In<'artifacts.batch'>['items'][number]>(call, artifactNoun, input, {
    prepare: async (own, item): Promise<Action<Artifact | null>> => {
      const alone = item.operation === 'create' ? item.create : item;
      await checkUses(own, operations[item.operation].touches, alone);
      if (item.operation === 'create') return prepareCreate(own, item.create);
      if (item.operation === 'update') return prepareUpdate(own, item.artifact_id, item.update);
      return prepareDelete(item.artifact_id);
    },
    about: (item) =>
      item.operation === 'create'
        ? { changes: item.create.artifact_id, names: item.create.derived_from }
        : { changes: item.artifact_id },
  });
