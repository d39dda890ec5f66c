/** Reads the statements of a conversation that a summary may keep. */
import type { CooperativeYield } from '../../../kernel/index.js';
import { unitsOf } from '../../../text/index.js';
import { roleOf, type TextSource } from '../sources.js';
import type { Candidate } from './candidate.js';
import { namesIn } from './carried-terms.js';
import { correctionsOf } from './corrections.js';
import { asSpoken } from './fragments.js';
import type { Statement } from './meant-values.js';
import { openQuestion } from './open-questions.js';
import { TurnReader } from './turn-reader.js';
import { isPerson, type Sentence, type Turn } from './turns.js';
import { topicTerms } from './value-contexts.js';

/** Sentences read, evenly from all sources. */
const MAX_READ = 20_000;
const MIN_READ_PER_SOURCE = 2;
const MAX_LENGTH = 600;
/** Characters of a block of code that are read, and of a line. */
const MAX_CODE = 20_000;
const MAX_CODE_LINE = 200;
/** Characters of a turn that tell what it is about. */
const MAX_TOPIC = 2000;

interface Reading {
  readonly turns: readonly Turn[];
  /** Words that stand with a capital inside a sentence. */
  readonly names: ReadonlySet<string>;
}

/** The sentences of the sources, with how later ones correct them. */
export async function readTurns(sources: readonly TextSource[], maybe_yield: CooperativeYield): Promise<Reading> {
  const turns: Turn[] = [];
  const names = new Set<string>();
  const limit = Math.max(MIN_READ_PER_SOURCE, Math.floor(MAX_READ / Math.max(1, sources.length)));
  for (const [source, { text, speaker, ...one }] of sources.entries()) {
    const sentences = await sentencesOf(text, limit, maybe_yield);
    for (const sentence of sentences) namesIn(sentence.text, names);
    const role = roleOf({ text, ...one });
    turns.push({ source, role, speaker: speaker ?? role, text, sentences });
  }
  await correct(turns, sources, names, maybe_yield);
  return { turns, names };
}

export async function candidatesOf(
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): Promise<Candidate[]> {
  const { turns, names } = await readTurns(sources, maybe_yield);
  const all: Candidate[] = [];
  const reader = new TurnReader(names, all);
  for (const at of turns.keys()) {
    await maybe_yield();
    await reader.read(turns, at, maybe_yield);
  }
  return all;
}

async function sentencesOf(text: string, limit: number, maybe_yield: CooperativeYield): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  for (const unit of unitsOf(asSpoken(text))) {
    await maybe_yield();
    if (sentences.length >= limit) break;
    if (unit.kind === 'code')
      for (const line of unit.text.slice(0, MAX_CODE).split('\n'))
        if (/[\p{L}\p{N}]/u.test(line) && line.length <= MAX_CODE_LINE)
          sentences.push({ text: line.trim(), code: true });
    if ((unit.kind === 'sentence' || unit.kind === 'quote') && unit.text.length <= MAX_LENGTH)
      sentences.push({ text: unit.text.replace(/\s+/g, ' ').trim(), code: false });
  }
  return sentences.slice(0, limit);
}

/** Notes with the sentences how later ones correct them. */
async function correct(
  turns: readonly Turn[],
  sources: readonly TextSource[],
  names: ReadonlySet<string>,
  maybe_yield: CooperativeYield,
): Promise<void> {
  const sentences: Sentence[] = [];
  const statements: Statement[] = [];
  const topics = turns.map(({ text }) => topicOf(text, names));
  for (const [at, { source, role, sentences: own }] of turns.entries()) {
    await maybe_yield();
    const question = isPerson(role) ? openQuestion(turns, at) : undefined;
    const asked = question === undefined ? NOTHING : topicOf(question, names);
    const topic = new Set([...topics[at]!, ...asked]);
    for (const sentence of own) {
      await maybe_yield();
      if (sentence.code) continue;
      sentences.push(sentence);
      const own = topicOf(sentence.text, names);
      statements.push({ source, text: sentence.text, derived: !isPerson(role), own, asked, topic });
    }
  }
  for (const [i, correction] of await correctionsOf(statements, sources, names, maybe_yield)) {
    sentences[i]!.correction = correction;
    for (const one of correction.merged) sentences[one]!.merged = true;
    turns[correction.by]!.corrects = true;
  }
}

const NOTHING: ReadonlySet<string> = new Set();

/** What a text is about: its terms without values. */
const topicOf = (text: string, names: ReadonlySet<string>): Set<string> => topicTerms(text.slice(0, MAX_TOPIC), names);
