/** Schemas of summarising and extracting: policies, jobs and their results. */
import { z } from 'zod';
import { clearable } from '../../engine/contract.js';
import { anyId, computed, instant, uuid } from '../../kernel/contract.js';
import { abstractionLevel, artifact, content, name, note, policyOutput } from '../../memory/contract.js';

export const DEFAULT_MAX_SOURCES = 200;
export const DEFAULT_MAX_TOKENS = 500;

const trigger = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('DosageThreshold'),
    percent: z.int().min(1).max(100).describe('Percent of the token budget of a scope, such as 80'),
  }),
  z.strictObject({ type: z.literal('ScopeClose') }),
  z.strictObject({
    type: z.literal('TurnCount'),
    count: z.int().min(1).max(1_000_000).describe('Fires at every `count` turns of a scope'),
  }),
  z.strictObject({
    type: z.literal('ArtifactCount'),
    count: z.int().min(1).max(1_000_000).describe('Fires at every `count` artifacts of the source level'),
  }),
  z.strictObject({ type: z.literal('Manual') }),
]);
export type Trigger = z.output<typeof trigger>;
export type TriggerType = Trigger['type'];

const policyAction = z.enum(['summarize', 'extract']);
export type PolicyAction = z.output<typeof policyAction>;

export const summarizeInput = {
  target_level: clearable(z.enum(['L1', 'L2']), undefined).describe(
    'One above the source level: L1 is a Summary artifact, L2 a note',
  ),
  max_sources: clearable(z.int().min(1).max(1000), DEFAULT_MAX_SOURCES).describe(`Default: ${DEFAULT_MAX_SOURCES}`),
  max_tokens: clearable(z.int().min(16).max(100_000), DEFAULT_MAX_TOKENS).describe(
    `Of a summary, counted by o200k; default: ${DEFAULT_MAX_TOKENS}`,
  ),
  create_edges: clearable(z.boolean(), true).describe(
    'Link a summary to all its sources by SynthesizedFrom; default: true',
  ),
};

export const policyPatch = {
  name: name.nullish(),
  trigger: trigger.optional(),
  source_level: clearable(z.enum(['L0', 'L1']), 'L0').describe(
    'L0: turns, or L0 artifacts; L1: summaries; default: L0',
  ),
  ...summarizeInput,
  actions: clearable(z.array(policyAction).min(1).max(2), ['summarize']).describe('Default: summarize only'),
  enabled: clearable(z.boolean(), true).describe('A disabled policy never fires, and hides those further away'),
};

export const policyInput = z.strictObject({
  ...policyPatch,
  policy_id: uuid.optional().describe('Default: assigned by the server'),
  trajectory_id: uuid.nullish().describe('Applies to the scopes of this trajectory'),
  scope_id: uuid.nullish().describe('Applies to this scope. Without either, the policy applies to the whole tenant'),
  agent_id: anyId.nullish(),
  trigger,
  created_at: computed,
  updated_at: computed,
});
export type PolicyInput = z.output<typeof policyInput>;

export const summarizationPolicy = z
  .object({
    policy_id: z.string(),
    name: z.string().nullable(),
    agent_id: z.string().nullable().describe('The agent that made it'),
    trajectory_id: z.string().nullable(),
    scope_id: z.string().nullable(),
    trigger,
    source_level: abstractionLevel,
    target_level: abstractionLevel,
    max_sources: z.int(),
    max_tokens: z.int(),
    create_edges: z.boolean(),
    actions: z.array(policyAction),
    enabled: z.boolean(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'SummarizationPolicy' });
export type SummarizationPolicy = z.output<typeof summarizationPolicy>;

const jobCost = z.object({
  provider: z.string().describe('offline, or the kind of the endpoint'),
  model: z.string().nullable(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  duration_ms: z.number(),
  attempts: z.int(),
});

export const job = z
  .object({
    job_id: z.string(),
    policy_id: z.string().nullable().describe('Null for a manual request and for a digest'),
    action: policyAction,
    trigger: z.string(),
    trajectory_id: z.string().nullable(),
    scope_id: z.string().nullable(),
    state: z.enum(['waiting', 'running', 'done', 'failed']),
    attempts: z.int(),
    sources: z.int().describe('Number of sources'),
    made: z.array(policyOutput),
    strengthened: z.array(policyOutput).describe('Known facts that were seen again'),
    cost: jobCost.nullable(),
    error: z.string().nullable().describe('Why the last attempt failed, or the fallback was used'),
    created_at: instant,
    updated_at: instant,
    ended_at: instant.nullable(),
  })
  .meta({ id: 'Job' });
export type Job = z.output<typeof job>;

export const summarized = z
  .object({
    made: z.boolean().describe('False when there is nothing new to summarise'),
    reason: z.string().nullable().describe('Why nothing was made'),
    artifact: artifact.nullable().describe('The summary, for the target level L1'),
    note: note.nullable().describe('The principle, for the target level L2'),
    sources: z.int().describe('Number of sources'),
    job_id: z.string().nullable(),
  })
  .meta({ id: 'Summarized' });
export type Summarized = z.output<typeof summarized>;

export const extracted = z
  .object({
    artifacts: z.array(artifact).describe('New artifacts'),
    notes: z.array(note).describe('New notes'),
    strengthened: z.array(policyOutput).describe('Known facts that were seen again'),
    contradictions: z.int().describe('How many new facts contradict known ones'),
    sources: z.int().describe('Number of turns examined'),
    job_id: z.string().nullable(),
  })
  .meta({ id: 'Extracted' });
export type Extracted = z.output<typeof extracted>;

export const expandInput = {
  left: z.boolean().optional().describe('Return the remaining sources instead of failing when some are gone'),
};

export const expanded = z
  .object({
    sources: z.array(
      z.object({
        entity_type: z.enum(['Turn', 'Artifact', 'Note']),
        id: z.string(),
        name: z.string().nullable(),
        content,
        scope_id: z.string().nullable(),
        sequence: z.int().nullable().describe('Of a turn'),
        role: z.string().nullable().describe('Of a turn'),
        created_at: instant,
      }),
    ),
  })
  .meta({ id: 'Expanded' });
export type Expanded = z.output<typeof expanded>;
