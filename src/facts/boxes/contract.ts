/** Operations on boxes (seed paths: /projects/{project_id}/boxes). */
import { z } from 'zod';
import { operation, reads } from '../../engine/contract.js';
import {
  anyId,
  computed,
  initialValue,
  jsonObject,
  listOrder,
  pageInput,
  pageOutput,
  subjectIds,
} from '../../kernel/contract.js';
import { card } from '../cards/model.js';
import { appendResult, batchTail, box, boxAccess, boxState, cardIds, grant, hydratedBox, loadTail } from './model.js';

const readsBox = { method: 'GET', access: 'read', touches: 'box', event: null } as const;
const byId = { box_id: anyId };
const revision = z.int().min(1).optional().describe('Read the box as it was at this revision');
const REVISION_NEEDED =
  'is required: load the box without limit and send the revision that it shows, or 0 to create a box';
/** Fields of an answer that a client may send back. */
const postedBack = {
  project_id: computed,
  length: computed,
  forked_from: computed,
  created_at: computed,
  updated_at: computed,
  sealed_at: initialValue(null),
  // A box with a cursor is a part of one, and must not become the whole of another.
  next_cursor: initialValue(null),
};
const UNCHANGED = 'As the box has it: a save changes only its cards';

export const boxes = {
  create: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes',
    input: z.strictObject({
      box_id: anyId.optional().describe('Default: a new id'),
      card_ids: cardIds.optional(),
      agent_id: anyId.optional().describe('The owner (default: the agent of the key)'),
      metadata: jsonObject.optional(),
      subject_ids: subjectIds.optional(),
      revision: computed,
      ...postedBack,
    }),
    output: box,
    access: 'write',
    touches: ['box', reads('Card', 'named')],
    event: 'cairn.box.created',
    status: 201,
    summary: 'Create a box, empty or with cards.',
    example: { card_ids: [] },
  }),
  load: operation({
    ...readsBox,
    path: '/projects/{project_id}/boxes/{box_id}',
    input: z.strictObject({ ...byId, limit: loadTail, cursor: pageInput.cursor, revision }),
    output: box,
    summary: 'Read a box: its state and the ids of its cards.',
    example: { box_id: 'box-1' },
  }),
  load_batch: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes/batch',
    input: z.strictObject({
      box_ids: z.array(anyId).max(10_000).describe('At most 100 different ids'),
      hydrate: z.boolean().optional().describe('Include the cards'),
      limit: batchTail,
    }),
    output: z.object({
      boxes: z.array(hydratedBox),
      missing_box_ids: z.array(z.string()),
      missing_card_ids: z.array(z.string()),
    }),
    access: 'read',
    touches: ['box', reads('Card', 'listed')],
    event: null,
    summary: 'Read up to 100 boxes, in the order of the request.',
    example: { box_ids: ['box-1'], hydrate: true },
  }),
  list: operation({
    ...readsBox,
    path: '/projects/{project_id}/boxes',
    input: z.strictObject({ agent_id: anyId.optional().describe('Only the boxes of this agent'), ...pageInput }),
    output: z.object({ boxes: z.array(boxState), ...pageOutput }),
    summary: 'List the boxes that the caller may see, in the order of their ids.',
    example: {},
  }),
  cards: operation({
    ...readsBox,
    path: '/projects/{project_id}/boxes/{box_id}/cards',
    input: z.strictObject({
      ...byId,
      ...pageInput,
      revision,
      tail: z.int().min(1).max(500).optional().describe('Only this many of the last cards, instead of pages'),
    }),
    output: z.object({
      cards: z.array(card),
      missing_card_ids: z.array(z.string()).describe('Cards of this page that are deleted, expired or erased'),
      ...pageOutput,
    }),
    touches: ['box', reads('Card', 'listed')],
    summary: 'Read the cards of a box, in order.',
    example: { box_id: 'box-1', limit: 50 },
  }),
  save: operation({
    method: 'PUT',
    path: '/projects/{project_id}/boxes/{box_id}',
    input: z.strictObject({
      ...byId,
      card_ids: cardIds,
      revision: z
        .int({ error: ({ input }) => (input === undefined ? REVISION_NEEDED : undefined) })
        .min(0)
        .describe('The revision that the list replaces, as a load of the whole box shows it; 0 creates a box'),
      agent_id: anyId.nullish().describe(UNCHANGED),
      metadata: jsonObject.optional().describe(UNCHANGED),
      subject_ids: subjectIds.optional().describe(UNCHANGED),
      ...postedBack,
    }),
    output: box,
    access: 'write',
    touches: ['box', reads('Card', 'named')],
    event: 'cairn.box.saved',
    summary:
      'Replace the cards of a box if it is still at the revision; 0 creates it. Earlier revisions stay readable.',
    example: { box_id: 'box-1', card_ids: [], revision: 1 },
  }),
  append: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes/{box_id}/append',
    input: z.strictObject({ ...byId, card_ids: cardIds.min(1) }),
    output: appendResult,
    access: 'write',
    touches: ['box', reads('Card', 'named')],
    event: 'cairn.box.appended',
    summary: 'Append cards to a box. A card that the box has keeps its place.',
    example: { box_id: 'box-1', card_ids: ['card-1'] },
  }),
  seal: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes/{box_id}/seal',
    input: z.strictObject(byId),
    output: box,
    access: 'write',
    touches: 'box',
    event: 'cairn.box.sealed',
    summary: 'Seal a box: it never changes again, and its cards stay readable as they are now.',
    example: { box_id: 'box-1' },
  }),
  fork: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes/{box_id}/fork',
    input: z.strictObject({
      ...byId,
      new_box_id: anyId.optional(),
      revision,
      agent_id: anyId.optional().describe('The owner (default: the agent of the key)'),
      metadata: jsonObject.optional(),
    }),
    output: box,
    access: 'write',
    touches: 'box',
    event: 'cairn.box.forked',
    status: 201,
    summary: 'Fork a box at a revision: a new box that starts with the same cards, without copying them.',
    example: { box_id: 'box-1' },
  }),
  grants: operation({
    ...readsBox,
    path: '/projects/{project_id}/boxes/{box_id}/grants',
    input: z.strictObject({ ...byId, order: listOrder() }),
    output: z.object({ grants: z.array(grant) }),
    summary: 'List which agents a box is granted to.',
    example: { box_id: 'box-1' },
  }),
  grant: operation({
    method: 'POST',
    path: '/projects/{project_id}/boxes/{box_id}/grants',
    input: z.strictObject({ ...byId, agent_id: anyId, access: boxAccess.optional().describe('Default: read') }),
    output: grant,
    access: 'write',
    touches: 'box',
    event: 'cairn.box.granted',
    status: 201,
    summary: 'Let another agent read a box, or write to it.',
    example: { box_id: 'box-1', agent_id: 'reviewer' },
  }),
  ungrant: operation({
    method: 'DELETE',
    path: '/projects/{project_id}/boxes/{box_id}/grants',
    input: z.strictObject({ ...byId, agent_id: anyId }),
    output: z.void(),
    access: 'write',
    touches: 'box',
    event: 'cairn.box.ungranted',
    status: 204,
    summary: 'Revoke a grant.',
    example: { box_id: 'box-1', agent_id: 'reviewer' },
  }),
};
