/** Rows and SQL conditions of facts, also for the reading thread: no schemas. */
export {
  entriesAfter,
  insertAppends,
  insertEntries,
  readAppendState,
  type Segment,
  segmentsOf,
  tailOf,
} from './boxes/entries.js';
export { addReader, type BoxRow, findBox, growBox, lockBox, visibleBox } from './boxes/store.js';
export {
  countCardLifetimes,
  countPacketLifetimes,
  type ExpiredCard,
  eraseCard,
  eraseCards,
  erasePacket,
  expiredCards,
  expiredPackets,
  forgetCards,
  inBox,
  keyedHash,
  lockSweeps,
  noteKept,
  noteSweep,
  pinned,
  strongPins,
  takeDeleteTime,
  takeSealTime,
} from './cards/lifetime.js';
export { cardDoc, isSearched, measureCard } from './cards/search-doc.js';
export {
  type CardRow,
  findCard,
  findCards,
  insertCards,
  isVisible,
  knownCards,
  type NewCard,
  readableAt,
  toCard,
  wasVisible,
} from './cards/store.js';
export { cardsWithin, isOfTurn, shownTo } from './cards/visibility.js';
export type { PacketInput } from './packets/model.js';
export { measurePacket, packetDoc, RESERVED_PREFIX } from './packets/search-doc.js';
export { visibleTo } from './packets/visibility.js';
