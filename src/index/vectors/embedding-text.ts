/** The text that a document's vector is made from. */

/** Models read a few thousand tokens, and some refuse longer texts. */
const MAX_CHARACTERS = 6000;

type EmbeddedParts = { readonly said: string } & Readonly<Record<'name' | 'speaker' | 'caption', string | null>>;

/** Prefixes the speaker, as in a transcript. Empty if there is no text. */
export function embeddingText({ name, speaker, said, caption }: EmbeddedParts): string {
  const text = said.trim();
  const spoken = speaker !== null && text !== '' ? `${speaker}: ${text}` : text;
  const all = [name?.trim() ?? '', spoken, caption?.trim() ?? ''].filter((part) => part !== '').join('\n');
  if (all.length <= MAX_CHARACTERS) return all;
  // Drops half of a surrogate pair at the cut.
  return all.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
}
