/** Lists of ids in a column: JSON text, or null when there are none. */

export const listToText = (list: readonly string[]): string | null => (list.length > 0 ? JSON.stringify(list) : null);

export const textToList = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));
