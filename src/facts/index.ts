/** The door of facts: use cases and registries. */
import './register.js';

export { mayUse, openBox, openBoxes, ownerOf, permitted } from './boxes/access.js';
export { makeBox, makeFork } from './boxes/creation.js';
export { boxChecks } from './boxes/doctor.js';
export { insertBox } from './boxes/store.js';
export { entryPage, hydrateViews } from './boxes/views.js';
export { cardsBeyondReach, refuseHidden } from './cards/access.js';
export { cardChecks, cardContents } from './cards/doctor.js';
export { cardsAbout, cardsFrom, contentsOf, type PlacedCard } from './cards/forgetting.js';
export { checkSize } from './cards/rules.js';
export { addCard, cardBytes, type PreparedCard, prepareCard, readCards, unknownCards } from './cards/service.js';
export { cardConditions } from './cards/visibility.js';
export { packetContents, streamChecks } from './packets/doctor.js';
export {
  deleteProfileIn,
  openProfile,
  profileContent,
  profileHash,
  readableProfile,
  writeProfileIn,
} from './profiles/service.js';
export { findProfile, listProfileHashes, type ProfileHash, type ProfileRow, profileHashes } from './profiles/store.js';
export { factsSchema } from './schema.js';
export { promptOf, renderSteps } from './transcripts/hydration.js';
export { openaiMessages } from './transcripts/openai.js';
export { checkDeliverable, resultFields } from './transcripts/result-fields.js';
export { readCall } from './transcripts/tool-calls.js';
export { answerText, type Message, type Transcript, textOf, transcriptOf } from './transcripts/transcript.js';
export { useCases } from './use-cases.js';
