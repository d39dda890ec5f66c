/** Erasures: what to forget, and the receipt, which holds no content. */
import { z } from 'zod';
import { anyId, instant, text } from '../../kernel/contract.js';

/** Ids in one request, and items in one answer. */
const MAX_IDS = 1000;
export const MAX_ITEMS = 1000;

const entityType = z.enum([
  'Trajectory',
  'Scope',
  'Execution',
  'Message',
  'Artifact',
  'Note',
  'Turn',
  'Card',
  'Packet',
]);

export type ErasedType = z.output<typeof entityType>;

const filter = z.strictObject({
  trajectory_id: anyId.optional(),
  scope_id: anyId.optional(),
  agent_id: anyId.optional().describe('The agent that wrote it'),
  created_before: instant.optional().describe('Only what was created before this time'),
  created_after: instant.optional().describe('Only what was created at this time or later'),
});

export type ErasureFilter = z.output<typeof filter>;

export const forgetInput = z.strictObject({
  ids: z.array(anyId).min(1).max(MAX_IDS).optional().describe('Of any entities that hold content'),
  filter: filter.optional().describe('Turns, artifacts, notes, cards and packets that match all members'),
  user: anyId.optional().describe('All content about this subject'),
  query: text(10_000, 1).optional().describe('Finds candidates, with dry_run alone: forget their ids afterwards'),
  dry_run: z.boolean().optional().describe('List what would be erased, and erase nothing'),
  shared: z.boolean().optional().describe('With user: also content about other subjects as well; default: false'),
  copies: z.boolean().optional().describe('Also erase independent copies of the same text; default: false'),
});

export type ForgetInput = z.output<typeof forgetInput>;

const erasureStatus = z
  .enum(['planned', 'running', 'pending', 'verified'])
  .describe(
    'planned: a dry run. pending: erased, but the log of the database may still hold it. verified: it does not, either',
  );

const counts = z.object({
  entity_type: entityType,
  entities: z.int().describe('How many of them'),
  contents: z.int().describe('Texts that were erased with them, such as versions; before the erasure: 0'),
});

const item = z.object({
  entity_type: entityType,
  entity_id: z.string(),
  origin: z
    .enum(['named', 'contained', 'derived', 'copy'])
    .describe('contained: in a scope or trajectory that is forgotten. derived: made from what is forgotten'),
  outcome: z
    .enum(['to_be_erased', 'erased', 'kept_shared', 'copy'])
    .describe('kept_shared: it is about other subjects as well. copy: an independent copy, which stays'),
});

export type ErasureItem = z.output<typeof item>;

export const erasureSummary = z
  .object({
    erasure_id: z.string().nullable().describe('Null for a dry run'),
    status: erasureStatus,
    selected_by: z.enum(['ids', 'filter', 'user', 'query', 'tenant']).describe('What selected it'),
    request_hash: z.string().describe('A keyed hash of what was asked'),
    agent_id: z.string().nullable(),
    key_id: z.string().nullable(),
    created_at: instant,
    erased_at: instant.nullable().describe('When everything was erased; null before'),
    verified_at: instant.nullable().describe('When the log of the database was emptied after it; null before'),
  })
  .meta({ id: 'ErasureSummary' });

export const erasure = erasureSummary
  .extend({
    erased: z.array(counts).describe('What was named, or is in what was named'),
    derived: z.array(counts).describe('What was derived from it, and is erased with it'),
    kept_shared: z.int().describe('Content about other subjects as well, which stays'),
    copies: z.int().describe('Independent copies of the same text, which stay unless asked for'),
    items: z.array(item).describe('At most 1,000; without versions'),
    not_covered: z.array(z.string()).describe('Where copies can be that Cairn cannot erase'),
  })
  .meta({ id: 'ErasureReceipt' });

export type Erasure = z.output<typeof erasure>;

export const forgotten = erasure
  .extend({
    candidates: z
      .array(
        z.object({
          entity_type: z.string(),
          id: z.string(),
          snippet: z.string(),
          confidence: z
            .number()
            .describe('As that of a passage; a low one does not mean that it is about something else'),
        }),
      )
      .optional()
      .describe(
        'Of a query: the 50 best passages, best first, each with its repetitions and the values that it replaced',
      ),
  })
  .meta({ id: 'Forgotten' });

export type Forgotten = z.output<typeof forgotten>;

export const verification = z
  .object({
    erasure_id: z.string().describe('Id of the erasure'),
    status: erasureStatus,
    verified: z.boolean().describe('Whether its status is verified, and nothing of it remains'),
    checked: z.int().describe('Entities and contents that were read again'),
    remaining: z
      .array(z.object({ entity_type: z.string(), entity_id: z.string() }))
      .describe('Not erased; at most 100'),
    bytes: z
      .object({
        files: z
          .array(z.object({ name: z.string(), bytes: z.int().describe('Size of the file') }))
          .describe('The file of the database, and its log'),
        parts: z.int().describe('Parts of the erased texts that were looked for'),
        found: z.int().describe('Parts that are in the file and in no content that remains'),
      })
      .nullable()
      .describe('Null unless asked for, and on PostgreSQL'),
  })
  .meta({ id: 'ErasureVerification' });
