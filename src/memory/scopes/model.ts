/** A scope: a context window with a token budget, the turns in it, and its checkpoint. */
import { z } from 'zod';
import { retain } from '../../identity/contract.js';
import { bytes, instant, jsonObject, subjectsShown } from '../../kernel/contract.js';

export const DEFAULT_TOKEN_BUDGET = 8000;
export const DEFAULT_THRESHOLD_PERCENT = 80;
const MAX_STATE_BYTES = 1024 * 1024;

/** Opaque serialized state of the agent that works in the scope. */
export const contextState = bytes(MAX_STATE_BYTES);

export const tokenBudget = z.int().min(1).max(1_000_000_000);
export const thresholdPercent = z
  .int()
  .min(1)
  .max(100)
  .describe('Percent of the budget at which the event cairn.scope.threshold is appended');

const scopeCheckpoint = z
  .object({
    context_state: z.string().nullable().describe('base64'),
    recoverable: z.boolean(),
    tokens_used: z.int(),
    turns: z.int(),
    created_at: instant,
  })
  .meta({ id: 'ScopeCheckpoint' });

const erasure = z
  .object({
    state: z.enum(['pending', 'done']),
    erased: z.int().describe('Turns erased so far'),
    kept: z.int().describe('Turns that a pin kept'),
  })
  .meta({ id: 'Erasure' });

export const scope = z
  .object({
    scope_id: z.string(),
    trajectory_id: z.string(),
    parent_scope_id: z.string().nullable(),
    box_id: z.string().describe('The box of its turns'),
    agent_id: z.string().nullable(),
    subject_ids: subjectsShown,
    name: z.string(),
    purpose: z.string().nullable(),
    token_budget: z.int(),
    tokens_used: z.int(),
    turns: z.int().describe('Number of turns'),
    threshold_percent: z.int(),
    threshold_reached_at: instant.nullable(),
    enforce: z.boolean().describe('Refuse turns that exceed the budget'),
    retain: retain.nullable().describe('What closing leaves; null: as the settings of the tenant say'),
    is_active: z.boolean(),
    checkpoint: scopeCheckpoint.nullable(),
    restored_from: z.string().nullable().describe('The scope whose checkpoint it was restored from'),
    erasure: erasure.nullable().describe('Progress of the erasure of its turns; null while it is open'),
    metadata: jsonObject,
    created_at: instant,
    updated_at: instant,
    closed_at: instant.nullable(),
  })
  .meta({ id: 'Scope' });
export type Scope = z.output<typeof scope>;

/** An entity that a policy made, or the digest of a scope that closed without one. */
export const policyOutput = z.object({ kind: z.enum(['summary', 'artifact', 'note', 'digest']), id: z.string() });
export type PolicyOutput = z.output<typeof policyOutput>;

export const closedScope = scope
  .extend({
    closed_scope_ids: z.array(z.string()).describe('This scope and those nested in it that were open'),
    kept_by: z
      .array(
        z.object({
          kind: z.enum(['checkpoint', 'sealed_box', 'scope']),
          id: z.string().describe('Id of the scope of the checkpoint, of the box, or of the restored scope'),
          turns: z.int(),
        }),
      )
      .describe('Pins that keep turns from being erased'),
    made: z
      .array(policyOutput)
      .describe('Entities that policies made from its turns before it was closed, or its digest'),
  })
  .meta({ id: 'ClosedScope' });
export type ClosedScope = z.output<typeof closedScope>;
