/** Subjects of statements: the speaker, "we", relatives, named people and things, as keys. */
import { isPerson, PROPER } from '../extraction/english/names.js';

const RELATIVE =
  '(?:(?:older|younger|elder|eldest|youngest|twin|big|little|best|ex-)?[ -]?)(?:wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|son|daughter|brother|sister|mother|father|mom|mum|dad|grandmother|grandfather|grandma|grandpa|granny|nan|aunt|uncle|cousin|niece|nephew|roommate|flatmate|boss|manager|mentor|coach|doctor|dentist|therapist|lawyer|accountant|landlord|landlady|neighbou?r|colleague|assistant|friend|kids|children|parents|in-laws|dog|cat|puppy|horse)';

/** A person as the subject of a sentence. */
export const PERSON = `(?:I|[Ww]e|[Tt]he team|[Tt]he user(?:'s ${RELATIVE})?|[Mm]y ${RELATIVE}(?: ${PROPER})?|${PROPER}(?:'s ${RELATIVE})?)`;

const lower = (name: string): string => name.toLowerCase();

/** The name of the speaker, or `user`. */
const speakerName = (speaker: string | null): string => lower(speaker?.trim() || 'user');

/** The key of a person; undefined if the words name none. */
export function personKey(words: string, verb: string, speaker: string | null): string | undefined {
  if (/^i$/i.test(words)) return speakerName(speaker);
  if (/^(?:we|the team)$/i.test(words)) return 'we';
  const user = /^the (user(?:'s .+)?)$/i.exec(words);
  if (user) return lower(user[1]!);
  const mine = /^my (.+)$/i.exec(words);
  if (mine) return `${speakerName(speaker)}'s ${relativeKey(mine[1]!)}`;
  const [owner, relative] = words.split(/'s (?=\p{Ll})/u) as [string, string | undefined];
  if (!isPerson(owner, verb, { names: new Set() })) return undefined;
  return relative === undefined ? lower(owner) : `${lower(owner)}'s ${relativeKey(relative)}`;
}

/** "Sister Anna" and "sister" are the same. */
const relativeKey = (words: string): string => lower(words.replace(/ \p{Lu}.*$/u, ''));

/** A thing with its owner: "the thesis deadline", "Lena's phone number", "our budget for summer". */
export function ownedPhrase(words: string, speaker: string | null): string {
  return words
    .replace(/^the user's /i, 'user ')
    .replace(/^(?:the|our|this|a|an) /i, '')
    .replace(/^my /i, `${speakerName(speaker)} `)
    .replace(/\bmy /gi, `${speakerName(speaker)} `);
}
