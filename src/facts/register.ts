/** What facts adds to the registries of lower modules. */
import { contentErasers } from '../engine/lifetimes/erasers.js';
import { eraseBox } from './boxes/erasure.js';
import { agentReferences } from '../identity/agents/references.js';
import { findProfile } from './profiles/store.js';

agentReferences.fill('profile', findProfile);

contentErasers.fill('box', eraseBox);
