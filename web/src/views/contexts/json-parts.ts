/** Splits a context in JSON by its members; written with line breaks here, for people. */
import { contentText } from './card-text.js';
import { isNoName, matchConversation, type Piece, type Plan } from './plan.js';
import type { SectionName } from './sections.js';

type Shown = Readonly<Partial<Record<SectionName, unknown>>>;

export function jsonPieces(text: string, plan: Plan): Piece[] {
  const shown = JSON.parse(text) as Shown;
  return (Object.keys(shown) as SectionName[]).flatMap((section): Piece[] => {
    const value = shown[section];
    const base = { role: '', isHeading: false, section, entry: undefined } as const;
    const entries = (plan.shown.get(section) ?? []).map(({ index }) => index);
    const heading: Piece = { ...base, key: section, isHeading: true, text: `"${section}"` };
    if (!Array.isArray(value))
      return [heading, { ...base, key: `${section}.0`, entry: entries[0], text: contentText(value) }];
    const found = section === 'turns' ? matchConversation(plan, value.map(messageOf)) : entries;
    const isKnown = section === 'turns' || value.length === entries.length;
    return [
      heading,
      ...value.map(
        (item, at): Piece => ({
          ...base,
          key: `${section}.${at}`,
          role: section === 'turns' ? messageOf(item).role : '',
          entry: isKnown ? found[at] : undefined,
          title: section === 'turns' ? undefined : titleIn(item),
          text: JSON.stringify(item, null, 2),
        }),
      ),
    ];
  });
}

function titleIn(item: unknown): string | undefined {
  const { title } = item as { title?: string };
  return title === undefined || isNoName(title) ? undefined : title;
}

function messageOf(item: unknown): { role: string; text: string } {
  const { role, content } = item as { role: string; content: unknown };
  return { role, text: contentText(content) };
}
