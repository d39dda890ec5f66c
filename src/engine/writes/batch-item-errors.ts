/** Batches: a refusal says which item it was. */
import { CairnError } from '../../kernel/index.js';

/** What the items of a batch hold together. */
export const bytesOf = (items: readonly { readonly bytes: number }[]): number =>
  items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Runs an action on an item, at once or as a promise, whichever it is. */
export function inItem<T>(list: string, index: number, action: () => T): T {
  const named = (error: unknown): never => {
    if (!(error instanceof CairnError)) throw error;
    throw new CairnError(error.code, `${list}[${index}]: ${error.message}`, error.details);
  };
  try {
    const result = action();
    return result instanceof Promise ? (result.catch(named) as T) : result;
  } catch (error) {
    return named(error);
  }
}
