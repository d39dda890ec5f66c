/** The schemas of seed 002, as they stand there; in the dialect of zod that they were written in. */
import { z } from 'zod/v3';

// Individual thought step
export const ThoughtStepSchema = z.object({
  id: z.string(),
  type: z.enum(['planning', 'reasoning', 'tool_selection', 'tool_execution', 'reflection', 'decision']),
  content: z.string(),
  reasoning: z.string().optional(),
  confidence: z.number().min(0).max(1),
  parent_id: z.string().optional(),
  children: z.array(z.string()),
  metadata: z.record(z.any()).optional(),
  timestamp: z.number(),
});

// Thought chain
export const ThoughtChainSchema = z.object({
  current_step_id: z.string().optional(),
  steps: z.array(ThoughtStepSchema),
});

// Context
export const ContextSchema = z.object({
  messages: z.array(
    z.object({
      role: z.enum(['user', 'assistant', 'system', 'tool']),
      content: z.string(),
      tool_calls: z.any().optional(),
      tool_results: z.any().optional(),
    }),
  ),
  variables: z.record(z.string(), z.any()),
  memory: z.array(z.object({ key: z.string(), value: z.any(), importance: z.number() })).optional(),
});

// Tool state
export const ToolStateSchema = z.object({
  last_tool_call_id: z.string().optional(),
  pending: z.array(z.string()),
  completed: z.array(
    z.object({
      tool_id: z.string(),
      arguments: z.record(z.any()),
      result: z.any(),
      success: z.boolean(),
      duration_ms: z.number(),
      timestamp: z.number(),
    }),
  ),
});

export const CheckpointSchema = z.object({
  version: z.literal('1.0.0'),
  id: z.string(),
  timestamp: z.number(),
  execution_id: z.string(),
  agent_id: z.string(),

  // Full atomic snapshot
  snapshot: z.object({ thought_chain: ThoughtChainSchema, context: ContextSchema, tool_state: ToolStateSchema }),

  // Metadata
  metadata: z.object({
    step_number: z.number().int().nonnegative(),
    total_steps_estimate: z.number().optional(),
    tokens_used: z.number().int().nonnegative(),
    duration_ms: z.number().nonnegative(),
    checkpoint_reason: z.enum(['step_complete', 'manual', 'low_confidence', 'tool_error', 'auto']),
  }),

  // Optional diff from previous checkpoint
  diff: z.optional(
    z.object({
      from_checkpoint_id: z.string(),
      changes: z.record(z.string(), z.object({ before: z.any(), after: z.any() })),
      summary: z.string(),
    }),
  ),

  // Optional: parent/branch info
  parent: z.optional(
    z.object({
      checkpoint_id: z.string(),
      is_branch: z.boolean().default(false),
      branch_reason: z.string().optional(),
    }),
  ),
});

export type Checkpoint = z.infer<typeof CheckpointSchema>;
