/** What hides cards from lists by facts of higher modules: they provide the conditions. */
import type { Sql } from '../../driver/index.js';
import { SlotRegistry } from '../../engine/sql.js';

/** On a card under the name c, at this moment. */
export type CardCondition = (now: number) => Sql;

/** `not_superseded`: nothing that can be read supersedes it. */
export const cardConditions = new SlotRegistry<'not_superseded', CardCondition>('conditions on cards', [
  'not_superseded',
]);
