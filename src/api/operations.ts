/** The table of all operations: routes, client, tools and commands are derived from it. */
import { checkpoints, executions } from '../checkpoints/contract.js';
import { agent_turns, delegations, handoffs, handovers, locks, messages, pmo } from '../coordination/contract.js';
import type { Operation } from '../engine/contract.js';
import { boxes, cards, events, packets, profiles } from '../facts/contract.js';
import { agents, auth, keys } from '../identity/contract.js';
import { lifetime } from '../maintenance/contract.js';
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

/** Written out, so that declarations name the groups instead of repeating every type in them. */
export interface Operations {
  readonly memory: typeof memory;
  readonly search: typeof search;
  readonly trajectories: typeof trajectories;
  readonly scopes: typeof scopes & typeof scopeJobs;
  readonly turns: typeof turns;
  readonly artifacts: typeof artifacts & typeof artifactSearch & typeof artifactSources;
  readonly notes: typeof notes & typeof noteSearch & typeof noteSources;
  readonly edges: typeof edges;
  readonly summarization_policies: typeof summarization_policies;
  readonly jobs: typeof jobs;
  readonly executions: typeof executions;
  readonly checkpoints: typeof checkpoints;
  readonly cards: typeof cards;
  readonly boxes: typeof boxes;
  readonly packets: typeof packets;
  readonly context: typeof context;
  readonly manifests: typeof manifests;
  readonly agents: typeof agents;
  readonly profiles: typeof profiles;
  readonly handovers: typeof handovers;
  readonly pmo: typeof pmo;
  readonly agent_turns: typeof agent_turns;
  readonly delegations: typeof delegations;
  readonly handoffs: typeof handoffs;
  readonly messages: typeof messages;
  readonly locks: typeof locks;
  readonly events: typeof events;
  readonly lifetime: typeof lifetime;
  readonly keys: typeof keys;
  readonly auth: typeof auth;
}

const operations: Operations = {
  memory,
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
  messages,
  locks,
  events,
  lifetime,
  keys,
  auth,
};

/** A description of each group, for OpenAPI and the help of the commands. */
export const groups: Readonly<Record<keyof Operations, string>> = {
  memory: 'remember and recall plain text',
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
  messages: 'messages between agents',
  locks: 'exclusive and shared locks with leases',
  events: 'live stream of all changes',
  lifetime: 'expiry and erasure of content',
  keys: 'API keys',
  auth: 'identity of the caller',
};

export interface NamedOperation extends Operation {
  /** Such as `cards.add`. */
  readonly name: string;
  readonly group: string;
  readonly verb: string;
}

/** The table as a flat list, in its order. */
export const allOperations: readonly NamedOperation[] = Object.entries(operations).flatMap(([group, entries]) =>
  Object.entries(entries as Record<string, Operation>).map(([verb, entry]) => ({
    ...entry,
    name: `${group}.${verb}`,
    group,
    verb,
  })),
);
