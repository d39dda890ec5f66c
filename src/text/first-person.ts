/** First person to third person: "I prefer my tea cold" becomes "Anna prefers their tea cold". */

const IRREGULAR: Readonly<Record<string, string>> = { have: 'has', do: 'does', go: 'goes', am: 'is' };

/** The third person of a verb. */
export function conjugated(verb: string): string {
  const small = verb.toLowerCase();
  if (IRREGULAR[small] !== undefined) return IRREGULAR[small];
  if (/(?:s|x|z|ch|sh|o)$/.test(small)) return `${small}es`;
  return /[^aeiou]y$/.test(small) ? `${small.slice(0, -1)}ies` : `${small}s`;
}

/** The text after the subject, with the speaker as "they", whose verbs equal those of "I" except for am and was. */
export function inThirdPerson(rest: string): string {
  return rest
    .replace(/\bi'm\b/gi, "they're")
    .replace(/\bi am\b/gi, 'they are')
    .replace(/\bi was\b/gi, 'they were')
    .replace(/\bi(?='(?:ve|ll)\b)/gi, 'they')
    .replace(/\b[Ii]\b(?!['.\]/-])/g, 'they')
    .replace(/\bmy\b/gi, 'their')
    .replace(/\bme\b/gi, 'them')
    .replace(/\bmyself\b/gi, 'themselves');
}

/** The name of a speaker at the start of a sentence. */
export const subjectName = (speaker: string | undefined): string => speaker ?? 'The user';

export const possessive = (name: string): string => (/s$/i.test(name) ? `${name}'` : `${name}'s`);

/** Names the speaker in an instruction, where "they" would refer to nobody. */
export function namingSpeaker(rest: string, name: string | undefined): string {
  const who = name ?? 'the user';
  return inThirdPerson(
    rest
      .replace(/\bme\b/gi, who)
      .replace(/\bI (?:(am|was)|([a-z]+))\b/gi, (_, is: string | undefined, verb: string | undefined) => {
        return `${who} ${is === undefined ? conjugated(verb!) : is.toLowerCase() === 'am' ? 'is' : 'was'}`;
      }),
  );
}
