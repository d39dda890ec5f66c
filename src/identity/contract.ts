/** Models and operations of identity: schemas alone, for clients as well. */
import type { Group } from '../engine/contract.js';
import type { agents } from './agents/contract.js';
import type { auth, keys } from './keys/contract.js';
import type { settings } from './settings/contract.js';

export { agents } from './agents/contract.js';
export { agentType, canDelegateTo, capabilities, DEFAULT_OFFLINE_AFTER_MS } from './agents/model.js';
export { auth, keys } from './keys/contract.js';
export {
  contextSections,
  contextTokens,
  repeatedSection,
  SECTIONS,
  type SectionName,
  type SectionSetting,
  sectionName,
} from './settings/context-sections.js';
export { settings } from './settings/contract.js';
export { DEFAULT_SETTINGS, type Retain, retain, type Settings, type SettingsPatch } from './settings/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'agents', typeof agents>,
      Group<'auth', typeof auth>,
      Group<'keys', typeof keys>,
      Group<'settings', typeof settings> {}
}
