/** Gets facts out of a conversation without a model: by rules that take what is plainly said, and nothing else. */
import type { GiveWay } from '../../../kernel/index.js';
import { parseDate, unitsOf } from '../../../text/index.js';
import { isExtractable, roleOf, type TextSource } from '../../summaries/sources.js';
import { codeOf } from '../code-blocks.js';
import type { ExtractedFact } from '../extractor.js';
import { isRecalled, recalledStatements, withoutMemory } from '../recalled-facts.js';
import { datedFacts, foreignDate } from './dates.js';
import { conventions, decisions } from './decisions.js';
import type { FactDraft, FactRule, Voice } from './drafts.js';
import { personalFacts } from './personal.js';
import { procedureIn, proceduresOf } from './procedures.js';
import { retractions } from './retractions.js';
import { sameFact } from './same-fact.js';
import { isPretence, plainSentence } from './sentences.js';
import { namedTastes } from './tastes.js';
import { gotchas, rootCauses, thingFacts } from './things.js';

export interface ExtractionSettings {
  readonly give_way: GiveWay;
  /** Texts that were recalled: what they say is known. */
  readonly recalled?: readonly string[];
}

/** The first that finds something has the sentence. */
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
];

/** Of one source; a dump has no end. */
const MAX_SENTENCES = 2000;
const MAX_SENTENCE = 400;
const MAX_TITLE = 120;

export async function extractFacts(
  sources: readonly TextSource[],
  { give_way, recalled = [] }: ExtractionSettings,
): Promise<ExtractedFact[]> {
  const known = await recalledStatements(sources, recalled, give_way);
  const names = await namesIn(sources, give_way);
  const found: ExtractedFact[] = [];
  const places: Places = new Map();
  for (const source of sources) {
    if (!isExtractable(source)) continue;
    const voice = voiceOf(source, names);
    const text = withoutMemory(source.text);
    for await (const fact of factsOf({ ...source, text }, voice, give_way))
      if (!isRecalled(fact, known)) add(fact, found, places);
  }
  return found;
}

/** Where in the list those are that may say the same. */
type Places = Map<string, number[]>;

const NO_PERSON = /\b(?:assistant|bot|agent|ai|gpt\S*|claude|gemini|llama|copilot|model|system|tool|user|human)\b/i;

function voiceOf(source: TextSource, names: ReadonlySet<string>): Voice {
  const speaker = source.speaker?.replace(/\s+/g, ' ').trim();
  const name = speaker && speaker.length <= 60 && !NO_PERSON.test(speaker) ? speaker : undefined;
  const role = roleOf(source);
  return { name, person: role === 'user' || name !== undefined, names, said_at: parseDate(source.occurred_at) };
}

/** Who speaks, and who or what is written with a capital where no sentence begins. */
async function namesIn(sources: readonly TextSource[], give_way: GiveWay): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { speaker, text } of sources) {
    const due = give_way();
    if (due) await due;
    for (const part of speaker?.split(/\s+/) ?? []) names.add(part.toLowerCase());
    for (const [, name] of text.slice(0, 20_000).matchAll(/(?<=[\p{Ll},;] )(\p{Lu}[\p{L}\d-]+)/gu))
      if (names.size < 5000) names.add(name!.toLowerCase());
  }
  return names;
}

async function* factsOf(source: TextSource, voice: Voice, give_way: GiveWay): AsyncGenerator<ExtractedFact> {
  for (const whole of voice.person ? [codeOf, proceduresOf] : [codeOf])
    for (const fact of whole(source)) {
      const due = give_way();
      if (due) await due;
      if (fact) yield fact;
    }
  let read = 0;
  for (const { kind, text } of unitsOf(source.text)) {
    const due = give_way();
    if (due) await due;
    // What follows is said in that scene, and of no one.
    if (isPretence(text)) return;
    if (kind !== 'sentence' || text.length > MAX_SENTENCE) continue;
    if ((read += 1) > MAX_SENTENCES) return;
    const fact = factIn(text, voice, source.id);
    if (fact) yield fact;
  }
}

function factIn(sentence: string, voice: Voice, source_id: string): ExtractedFact | undefined {
  const foreign = foreignDate(sentence, voice.person);
  if (foreign) return dated(sentence, foreign.day, source_id);
  const procedure = voice.person ? procedureIn(sentence, source_id) : undefined;
  if (procedure) return procedure;
  // "Returns 500 if the token is old" tells what is, not what would be.
  const told = /\b(?:returns?|responds?|throws?|fails?|answers?|raises?)\b/.test(sentence)
    ? sentence.replace(/ if /, ' when ')
    : sentence;
  const plain = plainSentence(told);
  if (!plain) return undefined;
  for (const rule of RULES) {
    const draft = rule(plain.text, voice);
    if (draft) return factOf(draft, plain.asked, source_id);
  }
  return undefined;
}

/** The fact that a text of a single sentence is, read as a person's word; undefined where no rule takes it. */
export function factStated(source: TextSource): ExtractedFact | undefined {
  const [only, ...more] = source.text.length > MAX_SENTENCE ? [] : unitsOf(source.text);
  if (only?.kind !== 'sentence' || more.length > 0) return undefined;
  return factIn(only.text, voiceOf({ ...source, role: 'user' }, new Set()), source.id);
}

function factOf(draft: FactDraft, asked: boolean, source_id: string): ExtractedFact {
  return {
    ...draft,
    title: titleOf(draft.content),
    negated: draft.negated ?? false,
    confidence: Math.min(0.95, draft.confidence + (asked ? 0.05 : 0)),
    source_ids: [source_id],
  };
}

function dated(sentence: string, day: string, source_id: string): ExtractedFact {
  const content = sentence.trim();
  return {
    kind: 'note',
    type: 'Fact',
    title: titleOf(content),
    content,
    confidence: 0.6,
    source_ids: [source_id],
    subject: '',
    slot: '',
    value: day,
    negated: false,
    happens_at: day,
  };
}

/** As much of it as fits, up to the end of a word. */
function titleOf(content: string): string {
  const title = content.replace(/[.。]$/, '');
  if (title.length <= MAX_TITLE) return title;
  const cut = title.slice(0, MAX_TITLE - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
}

/** Said twice, it is one fact with two sources. */
function add(fact: ExtractedFact, found: ExtractedFact[], places: Places): void {
  const place = `${fact.kind}\n${fact.subject}\n${fact.slot}`;
  const there = places.get(place) ?? [];
  places.set(place, there);
  const twin = there.find((at) => sameFact(found[at]!, fact) === 'same');
  if (twin === undefined) {
    there.push(found.push(fact) - 1);
    return;
  }
  const one = found[twin]!;
  found[twin] = {
    ...one,
    confidence: Math.max(one.confidence, fact.confidence),
    source_ids: [...new Set([...one.source_ids, ...fact.source_ids])],
  };
}
