/** Extracts facts from a conversation by rules, which take only plain statements. */
import type { CooperativeYield } from '../../../kernel/index.js';
import { parseDate, unitsOf } from '../../../text/index.js';
import { asSpoken } from '../../summaries/reading/fragments.js';
import { type Referents, referents } from '../../summaries/reading/referents.js';
import { isMoment } from '../../summaries/reading/speech-acts.js';
import { isExtractable, roleOf, type TextSource } from '../../summaries/sources.js';
import { codeOf } from '../code-blocks.js';
import type { ExtractedFact } from '../extractor.js';
import { isRecalled, recalledStatements, withoutMemory } from '../recalled-facts.js';
import { datedFacts, foreignDay } from './dates.js';
import { conventions, decisions } from './decisions.js';
import type { FactDraft, FactRule, Voice } from './drafts.js';
import { exchangedFacts, sentencesIn } from './exchanges.js';
import { personalFacts } from './personal.js';
import { plainFacts } from './plain-facts.js';
import { procedureIn, proceduresOf } from './procedures.js';
import { retractions } from './retractions.js';
import { sameFact } from './same-fact.js';
import { isPretence, mainClauses, plainSentence } from './sentences.js';
import { namedTastes } from './tastes.js';
import { gotchas, rootCauses, thingFacts } from './things.js';

/** The first rule that matches a sentence wins. */
const RULES: readonly FactRule[] = [
  gotchas,
  rootCauses,
  datedFacts,
  decisions,
  conventions,
  personalFacts,
  namedTastes,
  thingFacts,
  retractions,
  plainFacts,
];

/** Per source: dumps are endless. */
const MAX_SENTENCES = 2000;
const MAX_SENTENCE = 400;
const MAX_TITLE = 120;

export async function extractFacts(
  sources: readonly TextSource[],
  { maybe_yield, recalled = [] }: { readonly maybe_yield: CooperativeYield; readonly recalled?: readonly string[] },
): Promise<ExtractedFact[]> {
  const known = await recalledStatements(sources, recalled, maybe_yield);
  const names = await namesIn(sources, maybe_yield);
  const found: ExtractedFact[] = [];
  const bySlot = new Map<string, number[]>();
  const named = referents();
  let before: TextSource | undefined;
  for (const one of sources) {
    if (!isExtractable(one)) continue;
    const source = { ...one, text: withoutMemory(one.text) };
    const voice = voiceOf(source, names);
    const facts: ExtractedFact[] = before ? exchanged(before, source, voice) : [];
    const earlier = before ? sentencesIn(before).texts : [];
    for await (const fact of factsOf(source, { voice, named, earlier }, maybe_yield)) facts.push(fact);
    for (const fact of facts) if (!isRecalled(fact, known)) add(fact, found, bySlot);
    before = source;
  }
  return found;
}

/** What a turn and the one before it state together. */
function exchanged(before: TextSource, source: TextSource, voice: Voice): ExtractedFact[] {
  if (roleOf(before) !== 'assistant' || !voice.person || isPretence(source.text)) return [];
  return exchangedFacts(sentencesIn(before), sentencesIn(source), voice).map((draft) => ({
    ...draft,
    title: titleOf(draft.content),
    negated: draft.negated ?? false,
  }));
}

const NO_PERSON = /\b(?:assistant|bot|agent|ai|gpt\S*|claude|gemini|llama|copilot|model|system|tool|user|human)\b/i;

function voiceOf(source: TextSource, names: ReadonlySet<string>): Voice {
  const speaker = source.speaker?.replace(/\s+/g, ' ').trim();
  const name = speaker && speaker.length <= 60 && !NO_PERSON.test(speaker) ? speaker : undefined;
  const person = roleOf(source) === 'user' || name !== undefined;
  return { name, person, names, said_at: parseDate(source.occurred_at) };
}

/** The speakers, and words with a capital inside a sentence. */
async function namesIn(sources: readonly TextSource[], maybe_yield: CooperativeYield): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { speaker, text } of sources) {
    await maybe_yield();
    for (const part of speaker?.split(/\s+/) ?? []) names.add(part.toLowerCase());
    for (const [, name] of text.slice(0, 20_000).matchAll(/(?<=[\p{Ll},;] )(\p{Lu}[\p{L}\d-]+)/gu))
      if (names.size < 5000) names.add(name!.toLowerCase());
  }
  return names;
}

/** Who speaks, after what. */
interface Listening {
  readonly voice: Voice;
  readonly named: Referents;
  /** The sentences of the turn before. */
  readonly earlier: readonly string[];
}

async function* factsOf(
  source: TextSource,
  { voice, named, earlier }: Listening,
  maybe_yield: CooperativeYield,
): AsyncGenerator<ExtractedFact> {
  for (const whole of voice.person ? [codeOf, proceduresOf] : [codeOf])
    for (const fact of whole(source)) {
      await maybe_yield();
      if (fact) yield fact;
    }
  let read = 0;
  const own: string[] = [];
  for (const { kind, text } of unitsOf(asSpoken(source.text))) {
    await maybe_yield();
    // The rest of the turn plays in that scene.
    if (isPretence(text)) return;
    if (kind !== 'sentence' || text.length > MAX_SENTENCE) continue;
    if ((read += 1) > MAX_SENTENCES) return;
    const sentence = voice.person ? named(text, own, earlier) : text;
    own.push(sentence);
    yield* factsIn(sentence, { voice, named, earlier }, source.id);
  }
}

/** The fact of a sentence, and of a person's sentence those of its further clauses. */
function* factsIn(sentence: string, { voice, named }: Listening, source_id: string): Generator<ExtractedFact> {
  const first = factIn(sentence, voice, source_id);
  if (first) yield first;
  const clauses = voice.person && plainSentence(sentence) ? mainClauses(sentence) : [];
  for (const [n, clause] of clauses.entries()) {
    // The first was read with the whole sentence.
    if (n === 0) continue;
    const fact = factIn(named(clause, clauses.slice(0, n), []), voice, source_id);
    if (fact && !first?.content.includes(clause.replace(/[.!]+$/, ''))) yield fact;
  }
}

function factIn(sentence: string, voice: Voice, source_id: string): ExtractedFact | undefined {
  const day = foreignDay(sentence, voice.person);
  if (day !== undefined) {
    const dated = { kind: 'note', type: 'Fact', content: sentence.trim(), subject: '', slot: '', value: day } as const;
    return factOf({ ...dated, confidence: 0.6, happens_at: day }, false, source_id);
  }
  const procedure = voice.person ? procedureIn(sentence, source_id) : undefined;
  if (procedure) return procedure;
  // "Returns 500 if the token is old" is a fact, not a hypothesis.
  const stated = /\b(?:returns?|responds?|throws?|fails?|answers?|raises?)\b/.test(sentence)
    ? sentence.replace(/ if /, ' when ')
    : sentence;
  const plain = plainSentence(stated);
  if (!plain || isMoment(plain.text)) return undefined;
  for (const rule of RULES) {
    const draft = rule(plain.text, voice);
    if (draft) return factOf(draft, plain.asked, source_id);
  }
  return undefined;
}

/** The fact stated by a text of one sentence, read as said by a person. */
export function factStated(source: TextSource): ExtractedFact | undefined {
  const [only, ...more] = source.text.length > MAX_SENTENCE ? [] : unitsOf(source.text);
  if (only?.kind !== 'sentence' || more.length > 0) return undefined;
  return factIn(only.text, voiceOf({ ...source, role: 'user' }, new Set()), source.id);
}

/** A request to remember it raises the confidence. */
const factOf = (draft: FactDraft, asked: boolean, source_id: string): ExtractedFact => ({
  ...draft,
  title: titleOf(draft.content),
  negated: draft.negated ?? false,
  confidence: Math.min(0.95, draft.confidence + (asked ? 0.05 : 0)),
  source_ids: [source_id],
});

/** The content, cut at the end of a word. */
export function titleOf(content: string): string {
  const title = content.replace(/[.。]$/, '');
  if (title.length <= MAX_TITLE) return title;
  const cut = title.slice(0, MAX_TITLE - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
}

/** Adds a fact; a repeated one gets another source instead. */
function add(fact: ExtractedFact, found: ExtractedFact[], bySlot: Map<string, number[]>): void {
  const slot = `${fact.kind}\n${fact.subject}\n${fact.slot}`;
  const indexes = bySlot.get(slot) ?? [];
  bySlot.set(slot, indexes);
  const twin = indexes.find((at) => sameFact(found[at]!, fact) === 'same');
  if (twin === undefined) {
    indexes.push(found.push(fact) - 1);
    return;
  }
  const one = found[twin]!;
  found[twin] = {
    ...one,
    confidence: Math.max(one.confidence, fact.confidence),
    source_ids: [...new Set([...one.source_ids, ...fact.source_ids])],
  };
}
