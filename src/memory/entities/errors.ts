/** Errors about ids: of unknown entities, of deleted ones, and ids that are taken. */
import { CairnError } from '../../kernel/index.js';

/** `where` is the member of the input that names them. */
export const unknownEntity = (where: string, noun: string, missing: readonly string[]): CairnError =>
  new CairnError(
    'UNKNOWN_ENTITY',
    `${where} names ${missing.length} ${noun}(s) that do not exist or were deleted: ${missing.slice(0, 3).join(', ')}`,
    { missing_ids: missing.slice(0, 100) },
  );

export const idReused = (what: string): CairnError =>
  new CairnError('ENTITY_GONE', `${what} was deleted or erased; ids are never reused`);

export const idTaken = (what: string, fix: string): CairnError =>
  new CairnError('ENTITY_ALREADY_EXISTS', `${what} already exists with different content: ${fix}`);
