/** The table of all operations: routes, client, tools and commands are derived from it. */
import { checkpoints, executions } from '../checkpoints/contract.js';
import {
  agent_turns,
  delegations,
  handoffs,
  handovers,
  locks,
  messages,
  pauses,
  pmo,
} from '../coordination/contract.js';
import { dsl } from '../dsl/contract.js';
import type { Operation } from '../engine/contract.js';
import { boxes, cards, events, packets, profiles } from '../facts/contract.js';
import { agents, auth, keys, settings } from '../identity/contract.js';
import { erasures, forgetting, lifetime, store } from '../maintenance/contract.js';
import { artifacts, edges, notes, scopes, trajectories, turns } from '../memory/contract.js';
import {
  artifactSearch,
  artifactSources,
  context,
  jobs,
  manifests,
  memory,
  noteSearch,
  noteSources,
  scopeJobs,
  search,
  summarization_policies,
} from '../recall/contract.js';

const operations = {
  memory: { ...memory, ...forgetting },
  search,
  trajectories,
  scopes: { ...scopes, ...scopeJobs },
  turns,
  artifacts: { ...artifacts, ...artifactSearch, ...artifactSources },
  notes: { ...notes, ...noteSearch, ...noteSources },
  edges,
  summarization_policies,
  jobs,
  executions,
  checkpoints,
  cards,
  boxes,
  packets,
  context,
  manifests,
  agents,
  profiles,
  handovers,
  pmo,
  agent_turns,
  delegations,
  handoffs,
  pauses,
  messages,
  locks,
  events,
  dsl,
  lifetime,
  store,
  erasures,
  settings,
  keys,
  auth,
};

export type Operations = Readonly<typeof operations>;

/** A description of each group, for OpenAPI and the help of the commands. */
export const groups: Readonly<Record<keyof Operations, string>> = {
  memory: 'remember, recall and forget',
  search: 'search all content, with reasons and filters',
  trajectories: 'tasks and subtasks',
  scopes: 'context windows with a token budget',
  turns: 'messages in a scope',
  cards: 'immutable facts',
  boxes: 'ordered lists of cards',
  packets: 'events with lineage',
  edges: 'typed links between entities',
  summarization_policies: 'when to summarise turns and extract facts',
  jobs: 'background summaries and extractions',
  artifacts: 'versioned results of a task',
  notes: 'versioned knowledge across tasks',
  executions: 'agent runs with checkpoints',
  checkpoints: 'saved states of a run',
  context: 'assemble a prompt within a token budget',
  manifests: 'what a context contained, and why',
  agents: 'registered agents and their rights',
  profiles: 'system prompts and settings of agents',
  handovers: 'packing recipes for contexts',
  pmo: 'dispatch work with a packed context',
  agent_turns: 'list, replay, fork or stop agent runs',
  delegations: 'tasks offered to other agents',
  handoffs: 'transfer of a trajectory to another agent',
  pauses: 'questions of runs that wait for an answer',
  messages: 'messages between agents',
  locks: 'exclusive and shared locks with leases',
  events: 'live stream of all changes',
  dsl: 'agents, profiles, recipes, policies and settings as text',
  lifetime: 'expiry and erasure of content',
  store: 'what the tenant holds, how it grew, whether it is sound',
  erasures: 'receipts of what was forgotten',
  settings: 'defaults of the tenant: lifetimes, closing scopes, contexts',
  keys: 'API keys',
  auth: 'identity of the caller',
};

export interface NamedOperation extends Operation {
  /** Such as `cards.add`. */
  readonly name: string;
  readonly group: string;
  readonly verb: string;
}

export const allOperations: readonly NamedOperation[] = Object.entries(operations).flatMap(([group, entries]) =>
  Object.entries(entries as Record<string, Operation>).map(([verb, entry]) => ({
    ...entry,
    name: `${group}.${verb}`,
    group,
    verb,
  })),
);
