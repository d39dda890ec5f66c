/** Compares a new statement with known ones by a model endpoint; checks the form of the answer and its quotations. */
import { z } from 'zod';
import { ModelEndpoint, type ModelSettings, modelFailure } from '../../providers/index.js';
import { jsonIn, MATERIAL_RULES, markedSources } from '../summaries/model-material.js';
import type { ComparedRelation, ComparedText, Comparer, ComparisonRequest } from './comparer.js';

const answerForm = z.object({
  relations: z.array(
    z.object({
      id: z.string().describe('Id of a known source'),
      relation: z.enum(['same', 'replaces', 'contradicts', 'different']),
      old_value: z.string().max(500).describe('The former value, copied from the known source; empty if there is none'),
      states_only_this: z.boolean().describe('Whether the known source states nothing but this value'),
    }),
  ),
});

const TASK = `Compare the new statement, source s1, with each known one. For each known source say: same (it states the same), replaces (the new statement gives the same attribute of the same person or thing another value, and only one can hold at a time), contradicts (both cannot be true, and neither is a change of the other), or different (another person, another attribute, an additional value, a plan, a question, a guess, something temporary). When in doubt: different. old_value is the former value as the known source writes it. states_only_this is false if the known source tells anything else that still holds. ${MATERIAL_RULES} Answer with JSON alone: {"relations":[{"id":"s2","relation":"same|replaces|contradicts|different","old_value":"…","states_only_this":true}]}`;

const MAX_OUTPUT_TOKENS = 2000;

export function modelComparer(settings: ModelSettings): Comparer {
  const endpoint = new ModelEndpoint(settings);
  return {
    name: endpoint.name,
    async compare(request, { signal } = {}) {
      const { value, cost } = await endpoint.ask(
        {
          instructions: TASK,
          material: materialOf(request),
          max_output_tokens: MAX_OUTPUT_TOKENS,
          schema: answerForm,
          read: (answer) => relationsIn(answer, request),
        },
        signal,
      );
      return { relations: value, cost };
    },
  };
}

function materialOf({ told, known }: ComparisonRequest): string {
  const source = ({ text, speaker, at }: ComparedText, i: number) => ({
    id: String(i),
    text,
    speaker,
    occurred_at: at,
  });
  const [own, ...others] = markedSources([told, ...known].map(source));
  return `The new statement:\n${own!.text}\nKnown:\n${others.map(({ text }) => text).join('\n')}`;
}

function relationsIn(answer: string, { known }: ComparisonRequest): ComparedRelation[] {
  const parsed = answerForm.safeParse(jsonIn(answer));
  if (!parsed.success) throw modelFailure('nonsense', 'answered with something other than the requested relations');
  return parsed.data.relations.map(({ id, relation, old_value, states_only_this }) => {
    const index = Number(/^\[?s(\d+)\]?$/.exec(id.trim())?.[1]) - 2;
    const text = known[index]?.text;
    if (text === undefined) throw modelFailure('nonsense', 'answered with a source that was not given');
    const value = old_value.trim();
    if (relation === 'replaces' && (value === '' || !text.includes(value)))
      throw modelFailure('nonsense', 'answered with a former value that the source does not have');
    return { index, relation, value, whole: states_only_this };
  });
}
