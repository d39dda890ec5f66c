/** A pause: a run waits for the answer of a person or another agent, without a worker or a lease. */
import { z } from 'zod';
import { instant, jsonObject, jsonValue, text } from '../../kernel/contract.js';

/** The longest time to an answer: a year. */
export const MAX_TIMEOUT_MS = 366 * 24 * 3_600_000;

export const pauseStatus = z.enum(['open', 'answered', 'expired', 'cancelled']);

export const pauseTrigger = z.enum([
  'tool_confirmation',
  'tool_error',
  'human_review',
  'timeout',
  'confidence_low',
  'manual',
  'branch_point',
]);
export type PauseTrigger = z.output<typeof pauseTrigger>;

export const pauseAction = z.enum(['approve', 'reject', 'modify', 'continue', 'retry', 'cancel']);
export type PauseAction = z.output<typeof pauseAction>;

const choiceValue = text(1000, 1);

/** A choice as it is given: its value alone, or with a label. */
export const givenChoice = z.union([
  choiceValue,
  z.strictObject({ value: choiceValue, label: text(1000, 1).optional() }),
]);

export const pauseChoice = z.object({ value: z.string(), label: z.string() }).meta({ id: 'PauseChoice' });
export type PauseChoice = z.output<typeof pauseChoice>;

/** Members of an answer besides its action. */
export const answerDetails = {
  choice: choiceValue.optional().describe('The value of one of the choices'),
  value: jsonValue.optional().describe('What to use instead; `modify` needs it'),
  comment: text(20_000).optional().describe('A remark for the run'),
};

export const pauseAnswer = z.strictObject({ action: pauseAction, ...answerDetails }).meta({ id: 'PauseAnswer' });
export type PauseAnswer = z.output<typeof pauseAnswer>;

export const pause = z
  .object({
    pause_id: z.string(),
    status: pauseStatus.describe('expired: the deadline passed without a default. cancelled: the run ended'),
    trigger: pauseTrigger,
    question: z.string(),
    choices: z.array(pauseChoice),
    details: jsonObject.nullable().describe('What the question is about, such as the tool call to confirm'),
    answers: z.array(pauseAction).describe('The actions that an answer may have'),
    default: pauseAnswer.nullable().describe('The answer that counts when the deadline passes'),
    deadline_at: instant.nullable(),
    agent_turn_id: z.string().nullable(),
    execution_id: z.string().nullable(),
    checkpoint_id: z.string().nullable().describe('The state in which the execution waits'),
    trajectory_id: z.string().nullable(),
    ask_key: z.string().nullable().describe('Names the question within its run'),
    agent_id: z.string().describe('The agent that asks'),
    source_agent_id: z.string().nullable().describe('The agent that delegated the work, or owns the execution'),
    to_agent_id: z.string().nullable().describe('The agent that is asked'),
    to_agent_type: z.string().nullable().describe('The type of the agents that are asked'),
    outside: z.boolean().describe('Whether the answer may also be given outside Cairn, and recorded by the asker'),
    answer: pauseAnswer.nullable().describe('null while nobody has answered'),
    answered_by: z
      .object({ agent_id: z.string().nullable(), key_id: z.string().nullable() })
      .nullable()
      .describe('null while nobody has answered, and if the default counted'),
    answered_at: instant.nullable(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Pause' });
export type Pause = z.output<typeof pause>;
