/** The use cases of facts, by group and verb of the operation table. */
import { append } from './boxes/appending.js';
import * as boxes from './boxes/service.js';
import * as boxViews from './boxes/views.js';
import * as cards from './cards/service.js';
import * as packets from './packets/service.js';
import { events } from './packets/stream.js';
import * as profiles from './profiles/service.js';

export const useCases = { cards, boxes: { ...boxViews, ...boxes, append }, packets, events, profiles };
