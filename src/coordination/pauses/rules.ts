/** The rules of pauses: which answers a question takes, and from whom. */
import type { In } from '../../engine/contract.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import {
  type Pause,
  type PauseAction,
  type PauseAnswer,
  type PauseChoice,
  type PauseTrigger,
  pauseAction,
} from './model.js';

const ACTIONS: Readonly<Record<PauseTrigger, readonly PauseAction[]>> = {
  tool_confirmation: ['approve', 'reject', 'modify', 'cancel'],
  tool_error: ['modify', 'continue', 'retry', 'cancel'],
  human_review: ['approve', 'reject', 'modify', 'continue', 'cancel'],
  timeout: ['continue', 'retry', 'cancel'],
  confidence_low: ['approve', 'modify', 'continue', 'retry', 'cancel'],
  manual: pauseAction.options,
  branch_point: ['continue', 'cancel'],
};

/** Of one run; each holds up to a card's size of text. */
export const MAX_OPEN_PAUSES = 100;

/** The actions that a trigger allows; a question with choices can always be continued with one of them. */
export function defaultActions(trigger: PauseTrigger, has_choices: boolean): PauseAction[] {
  const own = ACTIONS[trigger];
  return pauseAction.options.filter((action) => own.includes(action) || (has_choices && action === 'continue'));
}

/** Choices with labels. Refuses a duplicate value. */
export function choicesOf(given: In<'pauses.create'>['choices'] = []): PauseChoice[] {
  const choices = given.map((one) =>
    typeof one === 'string' ? { value: one, label: one } : { label: one.value, ...one },
  );
  const values = choices.map(({ value }) => value);
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw invalid(`choices: "${twice}" is listed twice`);
  return choices;
}

type Question = Pick<Pause, 'answers' | 'choices'>;

/** Actions that take one of the choices, where there are some. */
const CHOOSES: readonly PauseAction[] = ['approve', 'continue'];

/** Refuses an answer that the question does not take. `where`: the member that holds it, such as `default`. */
export function checkAnswer({ answers, choices }: Question, { action, choice, value }: PauseAnswer, where = ''): void {
  if (!answers.includes(action)) throw invalid(`${where}action must be one of ${answers.join(', ')}, not ${action}`);
  if (action === 'modify' && value === undefined)
    throw invalid(`${where}value is required: modify needs what to use instead`);
  const values = choices.map((one) => one.value);
  if (choice !== undefined && !values.includes(choice)) {
    const allowed = values.length === 0 ? 'this question has no choices' : `it must be one of ${values.join(', ')}`;
    throw invalid(`${where}choice "${choice}" is unknown: ${allowed}`);
  }
  if (choice === undefined && values.length > 0 && CHOOSES.includes(action)) {
    throw invalid(`${where}choice is required: ${action} needs one of ${values.join(', ')}`);
  }
}

/** The content of an answer, without who gave it. */
export function answerOf({ action, choice, value, comment }: Partial<PauseAnswer>): PauseAnswer {
  if (action === undefined && choice === undefined) throw invalid('give an action, or one of the choices as choice');
  return {
    action: action ?? 'continue',
    ...(choice === undefined ? {} : { choice }),
    ...(value === undefined ? {} : { value }),
    ...(comment === undefined ? {} : { comment }),
  };
}

export const isSameAnswer = (one: PauseAnswer, other: PauseAnswer): boolean =>
  canonical(one as Json) === canonical(other as Json);

type Parties = Pick<Pause, 'pause_id' | 'agent_id' | 'source_agent_id' | 'to_agent_id' | 'to_agent_type'>;

/** Who reads or answers: an agent with its type, or a person (a key without an agent). */
export interface Answerer {
  readonly agent_id: string | null;
  readonly agent_type: string | null;
}

const isAsked = ({ to_agent_id, to_agent_type }: Parties, { agent_id, agent_type }: Answerer): boolean =>
  agent_id === to_agent_id || (agent_type !== null && agent_type === to_agent_type);

/** The asker, the delegator, the agents that are asked, and people. */
export const isPartyTo = (pause: Parties, who: Answerer): boolean =>
  who.agent_id === null ||
  who.agent_id === pause.agent_id ||
  who.agent_id === pause.source_agent_id ||
  isAsked(pause, who);

/** Whether an agent answers for its own run, as the asker or the owner, rather than because it was asked. */
export const isOwnRun = (pause: Parties, who: Answerer): boolean =>
  who.agent_id !== null && (who.agent_id === pause.agent_id || !isAsked(pause, who));

/** An agent does not approve itself: it may only withdraw its question, or record an answer from outside. */
export function checkMayAnswer(pause: Parties & Pick<Pause, 'outside'>, who: Answerer, action: PauseAction): void {
  const { pause_id, agent_id, source_agent_id, to_agent_id, to_agent_type, outside } = pause;
  if (who.agent_id === null) return;
  const isAsker = who.agent_id === agent_id;
  if (isAsker && (action === 'cancel' || outside)) return;
  const isAddressed = to_agent_id !== null || to_agent_type !== null;
  if (!isAsker && (isAddressed ? isAsked(pause, who) : who.agent_id === source_agent_id)) return;
  const why = isAsker ? 'it asked the question itself, and can only cancel it' : 'the question is for others';
  throw new CairnError('FORBIDDEN', `agent ${who.agent_id} may not answer pause ${pause_id}: ${why}`, {
    rule: 'pause_party',
    agent_id,
    to_agent_id,
    to_agent_type,
  });
}

interface EndedPause extends Pick<Pause, 'pause_id' | 'status' | 'answered_by'> {
  readonly answered_at: number | null;
}

/** The refusal of a second answer: names who answered, and when. */
export function alreadyEnded({ pause_id, status, answered_by, answered_at }: EndedPause): CairnError {
  const who =
    answered_by === null ? 'its default' : answered_by.agent_id === null ? 'a person' : `agent ${answered_by.agent_id}`;
  const why =
    status === 'answered'
      ? ` by ${who} at ${toIso(answered_at!)}: the first answer counts`
      : ': it takes no more answers';
  return new CairnError('STATE_CONFLICT', `pause ${pause_id} is already ${status}${why}`, {
    status,
    answered_by,
    answered_at: answered_at === null ? null : toIso(answered_at),
  });
}
