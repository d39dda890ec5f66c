/** Extraction rules: denials, such as "I no longer live in Rome", of what other rules would take. */
import { conjugated, inThirdPerson, possessive, subjectName } from '../../../text/index.js';
import { type FactDraft, type FactRule, sentenceOf } from './drafts.js';
import { lives, relatives } from './personal.js';
import { firstClause, standsAlone } from './sentences.js';
import { named } from './things.js';

const NO_MORE = / (?:any ?more|any longer)\b/i;
const I_AM_NOT = /^i(?:'m| am) (?:not|(no longer)) (.+)$/i;
const I_DO_NOT = /^i (?:(no longer)|don't|do not) ([a-z]+) (.+)$/i;
const IS_NOT = /^(.{2,60}?) (?:is not|isn't|is no longer) (.+)$/i;
const DOES_NOT = /^(.{2,60}?) (?:(no longer)|doesn't|does not) ([a-z]+) (.+)$/i;

/** The denied sentence, and the denial as content. */
interface Denied {
  readonly statement: string;
  readonly content: string;
}

function ofOneself(sentence: string, name: string, over: boolean): Denied | undefined {
  const am = I_AM_NOT.exec(sentence);
  if (am) {
    const not = over || am[1] !== undefined ? 'no longer' : 'not';
    return { statement: `I am ${am[2]}`, content: `${name} is ${not} ${inThirdPerson(am[2]!)}` };
  }
  const found = I_DO_NOT.exec(sentence);
  if (!found) return undefined;
  const [, longer, verb, rest] = found as unknown as [string, string | undefined, string, string];
  const does = over || longer !== undefined ? `no longer ${conjugated(verb)}` : `doesn't ${verb.toLowerCase()}`;
  return { statement: `I ${verb} ${rest}`, content: `${name} ${does} ${inThirdPerson(rest)}` };
}

function ofOthers(sentence: string, name: string, over: boolean): Denied | undefined {
  const is = IS_NOT.exec(sentence);
  const does = is ? null : DOES_NOT.exec(sentence);
  if (!is && !does) return undefined;
  const told = sentence.replace(/^my (.+)$/i, (_, mine: string) => `${possessive(name)} ${inThirdPerson(mine)}`);
  const content = `${told}${over ? ' anymore' : ''}`;
  if (is) return { statement: `${is[1]} is ${is[2]}`, content };
  const [, who, longer, verb, rest] = does as unknown as (string | undefined)[];
  return { statement: `${who} ${longer === undefined ? conjugated(verb!) : verb} ${rest}`, content };
}

/** "I'm not a lawyer" precedes advice and is no fact; "I'm no longer a lawyer" is one. */
const isModest = ({ slot }: FactDraft, content: string): boolean =>
  slot === 'occupation' && !/ no longer /.test(content);

export const retractions: FactRule = (all, voice) => {
  if (!voice.person || !standsAlone(all)) return undefined;
  const clause = firstClause(all);
  const over = NO_MORE.test(all);
  const name = subjectName(voice.name);
  const own = /^i\b/i.test(clause);
  const denied = own ? ofOneself(clause, name, over) : ofOthers(clause, name, over);
  if (!denied) return undefined;
  const { statement, content } = denied;
  const draft = own ? lives(statement, voice) : (relatives(statement, voice) ?? named(statement, voice));
  if (!draft || isModest(draft, content)) return undefined;
  return { ...draft, content: sentenceOf(content), negated: true };
};
