/** Batches: a refusal says which item it was. */
import { CairnError } from '../model/errors.js';

export async function inItem<T>(list: string, index: number, action: () => T | Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    throw new CairnError(error.code, `${list}[${index}]: ${error.message}`, error.details);
  }
}
