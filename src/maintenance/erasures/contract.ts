/** Operations that forget, and those on receipts. */
import { z } from 'zod';
import { type Group, operation, reads, writes } from '../../engine/contract.js';
import { pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { forgottenAsText } from './forgotten-text.js';
import { erasure, erasureSummary, forgetInput, forgotten, verification } from './model.js';

const AN_ERASURE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a7f';
const A_NOTE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e';

/** Receipts name what others wrote, by id. */
const receipts = [reads('Card', 'tenant'), reads('Packet', 'tenant')] as const;

export const forgetting = {
  forget: operation({
    method: 'POST',
    path: '/api/v1/forget',
    input: forgetInput,
    output: forgotten,
    access: 'write',
    // Named by their ids: what they are is checked for each, with what is derived from it.
    touches: [
      writes('Turn', 'named'),
      writes('Artifact', 'named'),
      writes('Note', 'named'),
      writes('Card', 'named'),
      writes('Packet', 'named'),
      writes('Checkpoint', 'named'),
    ],
    event: 'cairn.erasure.requested',
    summary: 'Erase content in every version and copy, with what was derived from it; answers with a receipt.',
    mcp: {
      tool: 'forget',
      text: forgottenAsText,
      destroys: true,
      use:
        'Use it when somebody asks that something be forgotten. First call it with query and dry_run, show what it ' +
        'found, and then forget the ids that were confirmed. It cannot be undone.',
    },
    example: { ids: [A_NOTE] },
  }),
};

export const erasures = {
  list: operation({
    method: 'GET',
    path: '/api/v1/erasures',
    input: z.strictObject(pageInput),
    output: z.object({ erasures: z.array(erasureSummary).describe('Receipts on this page'), ...pageOutput }),
    access: 'read',
    touches: [...receipts],
    event: null,
    summary: 'List receipts of what was forgotten, ordered by id.',
    example: {},
  }),
  show: operation({
    method: 'GET',
    path: '/api/v1/erasures/{erasure_id}',
    input: z.strictObject({ erasure_id: uuid.describe('Id of the erasure') }),
    output: erasure,
    access: 'read',
    touches: [...receipts],
    event: null,
    summary: 'Read a receipt: what was erased, by kind and id, and what was derived from it.',
    example: { erasure_id: AN_ERASURE },
  }),
  verify: operation({
    method: 'POST',
    path: '/api/v1/erasures/{erasure_id}/verify',
    input: z.strictObject({
      erasure_id: uuid.describe('Id of the erasure'),
      bytes: z.boolean().optional().describe('Also look for the erased texts in the SQLite file; default: false'),
    }),
    output: verification,
    access: 'read',
    touches: [...receipts],
    event: null,
    summary: 'Read everything that a receipt names again, and check that it is erased.',
    example: { erasure_id: AN_ERASURE },
  }),
};

declare module '../../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'memory', typeof forgetting>, Group<'erasures', typeof erasures> {}
}
