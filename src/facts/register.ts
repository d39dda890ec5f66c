/** Fills the registries of lower modules. */
import { sql, TENANT } from '../driver/index.js';
import { contentErasers, forgetters } from '../engine/index.js';
import { reachedColumn, reachFinders } from '../engine/sql.js';
import { agentReferences, cardOwners } from '../identity/index.js';
import { eraseBox } from './boxes/erasure.js';
import { cardForgetter } from './cards/forgetting.js';
import { findCard } from './cards/store.js';
import { packetForgetter } from './packets/forgetting.js';
import { packetsWithin } from './packets/visibility.js';
import { findProfile } from './profiles/store.js';

agentReferences.fill('profile', findProfile);

contentErasers.fill('box', eraseBox);
forgetters.fill('card', cardForgetter);
forgetters.fill('packet', packetForgetter);

reachFinders.fill(
  'packet_id',
  (id, reach) =>
    sql`SELECT ${reachedColumn(packetsWithin(reach))} FROM packet_store p
        WHERE p.tenant_id = ${TENANT} AND p.packet_id = ${id}`,
);

cardOwners.fill('card', findCard);
