/** Extracts facts with a model endpoint; checks the form of the answer, its sources, and that they state the facts. */
import { z } from 'zod';
import { cooperativeYield } from '../../kernel/index.js';
import {
  ModelEndpoint,
  type ModelSettings,
  modelFailure,
  type ProviderCost,
  sumOfCosts,
} from '../../providers/index.js';
import {
  batchesOf,
  citedBy,
  isGrounded,
  jsonIn,
  MATERIAL_RULES,
  type MarkedSource,
} from '../summaries/model-material.js';
import { isExtractable } from '../summaries/sources.js';
import { codeOf } from './code-blocks.js';
import { keyOf } from './english/drafts.js';
import { isNegated } from './english/statements.js';
import type { ExtractedFact, Extraction, ExtractionRequest, Extractor } from './extractor.js';
import { isRecalled, recalledStatements, withoutMemory } from './recalled-facts.js';

const TYPES = [
  'Decision',
  'Preference',
  'Fact',
  'Relationship',
  'Convention',
  'Gotcha',
  'Procedure',
  'Insight',
] as const;

const answerForm = z.object({
  facts: z.array(
    z.object({
      type: z.enum(TYPES),
      statement: z.string().min(3).max(2000).describe('One sentence that stands alone'),
      subject: z.string().min(1).max(200).describe('Whom or what it is about'),
      attribute: z.string().min(1).max(200).describe('What is said of the subject, such as home town'),
      value: z.string().min(1).max(1000),
      confidence: z.number().min(0).max(1),
      sources: z.array(z.string()).min(1).describe('Ids of the sources that say it'),
    }),
  ),
});
type AnsweredFact = z.output<typeof answerForm>['facts'][number];

const TASK = `Extract the facts from the sources that will still matter in later conversations: decisions, preferences, facts about named people and things, conventions, pitfalls, procedures, dates. Leave out small talk, questions, guesses, hypotheticals, general knowledge, and what an assistant merely explains. Each statement stands alone: names instead of pronouns, dates instead of "tomorrow". Nothing worth keeping is an empty list. ${MATERIAL_RULES} Answer with JSON alone: {"facts":[{"type":one of ${TYPES.join('|')},"statement":"…","subject":"…","attribute":"…","value":"…","confidence":0 to 1,"sources":["s1"]}]}`;

export function modelExtractor(settings: ModelSettings): Extractor {
  const endpoint = new ModelEndpoint(settings);
  return {
    name: endpoint.name,
    async extract(request, { signal } = {}) {
      const heard = request.sources
        .filter(isExtractable)
        .map((source) => ({ ...source, text: withoutMemory(source.text) }))
        .filter(({ text }) => text.trim() !== '');
      const extractions: Extraction[] = [];
      for (const batch of await batchesOf(heard, settings.max_input_tokens)) {
        const { value, cost } = await endpoint.ask(
          {
            instructions: TASK,
            material: materialOf(batch, request),
            max_output_tokens: settings.max_output_tokens,
            schema: answerForm,
            read: (answer) => factsOf(answer, batch),
          },
          signal,
        );
        extractions.push({ facts: value, cost });
      }
      const [first, ...others] = extractions.map(({ cost }) => cost);
      const known = await recalledStatements(request.sources, request.recalled ?? [], cooperativeYield(signal));
      const facts = extractions.flatMap((extraction) => extraction.facts).filter((fact) => !isRecalled(fact, known));
      // Code needs no judgement.
      const code = heard.flatMap((source) => [...codeOf(source)].filter((fact) => fact !== undefined));
      return { facts: [...facts, ...code], cost: first ? sumOfCosts(first, ...others) : noCost(settings) };
    },
  };
}

const noCost = ({ kind: provider, model }: ModelSettings): ProviderCost => ({
  provider,
  model,
  input_tokens: 0,
  output_tokens: 0,
  duration_ms: 0,
  attempts: 0,
});

function materialOf(batch: readonly MarkedSource[], { recalled = [] }: ExtractionRequest): string {
  const texts = batch.map(({ text }) => text).join('\n');
  if (recalled.length === 0) return texts;
  const known = recalled.join('\n').slice(0, 8000);
  // A recalled text must not close the element.
  return `<known>\n${known.replace(/<(?=\/?known\b)/gi, '‹')}\n</known>\nWhat is known is not extracted again.\n${texts}`;
}

function factsOf(answer: string, batch: readonly MarkedSource[]): ExtractedFact[] {
  const parsed = answerForm.safeParse(jsonIn(answer));
  if (!parsed.success) throw modelFailure('nonsense', 'answered with something other than the requested facts');
  const byMark = new Map(batch.map((marked) => [marked.mark, marked]));
  const facts = parsed.data.facts.flatMap((fact) => factOf(fact, byMark) ?? []);
  if (facts.length === 0 && parsed.data.facts.length > 0)
    throw modelFailure('nonsense', 'answered with facts that no source states');
  return facts;
}

function factOf(fact: AnsweredFact, byMark: ReadonlyMap<string, MarkedSource>): ExtractedFact | undefined {
  const cited = citedBy(fact.sources, byMark);
  const content = fact.statement.trim();
  if (cited.length === 0 || content === '' || !isGrounded(content, cited)) return undefined;
  return {
    kind: fact.type === 'Decision' ? 'artifact' : 'note',
    type: fact.type,
    title: content.replace(/[.。]$/, '').slice(0, 120),
    content,
    confidence: fact.confidence,
    source_ids: cited.map(({ source }) => source.id),
    subject: fact.subject.trim().toLowerCase(),
    slot: keyOf(fact.attribute) || fact.attribute.trim().toLowerCase(),
    value: fact.value.trim(),
    negated: isNegated(content),
  };
}
