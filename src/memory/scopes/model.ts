/** A scope: a context window with a token budget, the turns in it, and its checkpoint. */
import { z } from 'zod';
import { bytes, instant, jsonObject } from '../../kernel/contract.js';

export const DEFAULT_TOKEN_BUDGET = 8000;
export const DEFAULT_THRESHOLD_PERCENT = 80;

export const MAX_STATE_BYTES = 1024 * 1024;

/** Serialized state of whoever works in the scope: opaque bytes. */
export const contextState = bytes(MAX_STATE_BYTES);

export const tokenBudget = z.int().min(1).max(1_000_000_000);
export const thresholdPercent = z
  .int()
  .min(1)
  .max(100)
  .describe('Percent of the budget at which an event tells that it is nearly used up');

export const scopeCheckpoint = z
  .object({
    context_state: z.string().nullable().describe('base64'),
    recoverable: z.boolean(),
    tokens_used: z.int(),
    turns: z.int(),
    created_at: instant,
  })
  .meta({ id: 'ScopeCheckpoint' });

export const erasure = z
  .object({
    state: z.enum(['pending', 'done']),
    erased: z.int().describe('Turns whose content this erasure found or made erased, so far'),
    kept: z.int().describe('Turns that something kept when this erasure came to them'),
  })
  .meta({ id: 'Erasure' });

export const scope = z
  .object({
    scope_id: z.string(),
    trajectory_id: z.string(),
    parent_scope_id: z.string().nullable(),
    box_id: z.string().describe('The box that the turns are in'),
    agent_id: z.string().nullable(),
    name: z.string(),
    purpose: z.string().nullable(),
    token_budget: z.int(),
    tokens_used: z.int(),
    turns: z.int().describe('How many turns it has'),
    threshold_percent: z.int(),
    threshold_reached_at: instant.nullable(),
    enforce: z.boolean().describe('Refuse a turn that does not fit into the budget'),
    is_active: z.boolean(),
    checkpoint: scopeCheckpoint.nullable(),
    restored_from: z.string().nullable().describe('The scope whose checkpoint it started with'),
    erasure: erasure.nullable().describe('Of a closed scope: how far the erasure of its turns has come'),
    metadata: jsonObject,
    created_at: instant,
    updated_at: instant,
    closed_at: instant.nullable(),
  })
  .meta({ id: 'Scope' });
export type Scope = z.output<typeof scope>;

/** Something that a policy made, by its id. */
export const made = z.object({ kind: z.enum(['summary', 'artifact', 'note']), id: z.string() });
export type Made = z.output<typeof made>;

export const closedScope = scope
  .extend({
    closed_scope_ids: z.array(z.string()).describe('This scope and those nested in it that were open'),
    kept_by: z
      .array(
        z.object({
          kind: z.enum(['checkpoint', 'sealed_box', 'scope']),
          id: z.string().describe('The scope of the checkpoint, the box, or the restored scope'),
          turns: z.int(),
        }),
      )
      .describe('What keeps the content of turns from being erased'),
    made: z.array(made).describe('What policies made of its turns before it was closed'),
  })
  .meta({ id: 'ClosedScope' });
export type ClosedScope = z.output<typeof closedScope>;
