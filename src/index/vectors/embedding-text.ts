/** What of a document a vector is made of. */

/** Models read no more than some thousand tokens, and some refuse what is longer. */
const MAX_CHARACTERS = 6000;

export interface EmbeddedParts {
  readonly name: string | null;
  readonly speaker: string | null;
  readonly said: string;
  readonly caption: string | null;
}

/** Who says it belongs to what is said, as it does in a transcript. Empty for what says nothing. */
export function embeddingText({ name, speaker, said, caption }: EmbeddedParts): string {
  const text = said.trim();
  const spoken = speaker !== null && text !== '' ? `${speaker}: ${text}` : text;
  const all = [name?.trim() ?? '', spoken, caption?.trim() ?? ''].filter((part) => part !== '').join('\n');
  if (all.length <= MAX_CHARACTERS) return all;
  // Half of a character pair at the end would be no text.
  return all.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
}
