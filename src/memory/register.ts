/** What memory adds to the registries of lower modules. */
import { cardConditions } from '../facts/cards/list-conditions.js';
import { cardNotSuperseded } from './entities/supersession.js';

cardConditions.fill('not_superseded', cardNotSuperseded);
