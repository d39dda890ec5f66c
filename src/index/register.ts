/** Fills the registries of lower modules. */
import { indexPurges } from '../engine/index.js';
import { purgeHidden } from './segments/purging.js';

indexPurges.fill('documents', ({ driver, tenant }) => purgeHidden(driver, tenant));
