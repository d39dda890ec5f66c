/** Models and operations of facts: only schemas, also for clients. */
import type { Group } from '../engine/contract.js';
import type { boxes } from './boxes/contract.js';
import type { cards } from './cards/contract.js';
import type { packets } from './packets/contract.js';
import type { events } from './packets/events-contract.js';
import type { profiles } from './profiles/contract.js';

export { boxes } from './boxes/contract.js';
export { cardIds } from './boxes/model.js';
export { cards } from './cards/contract.js';
export { type Card, card, cardInput } from './cards/model.js';
export { packets } from './packets/contract.js';
export { events } from './packets/events-contract.js';
export type { Packet } from './packets/model.js';
export { profiles } from './profiles/contract.js';
export { type Hydrated, hydrated, type Prompt, type PromptFormat, promptFormat } from './transcripts/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'boxes', typeof boxes>,
      Group<'cards', typeof cards>,
      Group<'events', typeof events>,
      Group<'packets', typeof packets>,
      Group<'profiles', typeof profiles> {}
}
