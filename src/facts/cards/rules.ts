/** The card types of the protocol and the schemas of their content. Unknown types are not checked. */
import { z } from 'zod';
import { readLeniently } from '../../engine/contract.js';
import type { Limits } from '../../engine/index.js';
import { anyId, type Json, type JsonObject, jsonObject, jsonValue, role, text } from '../../kernel/contract.js';
import { CairnError, invalid, isObject } from '../../kernel/index.js';

const prose = z.string();
const fieldName = z.string().trim().min(1).max(200);

/** The fields of a result; names are trimmed and distinct. */
export const fieldsSchema = z
  .array(z.strictObject({ name: fieldName, description: text(10_000).optional(), required: z.boolean().optional() }))
  .max(1000)
  .superRefine((fields, ctx) => {
    const seen = new Set<string>();
    for (const { name } of fields) {
      if (seen.has(name)) ctx.addIssue({ code: 'custom', message: `field "${name}" is listed twice` });
      seen.add(name);
    }
  });

const toolError = z.looseObject({ code: z.string().min(1), message: z.string() });

const toolResult = z
  .looseObject({ status: z.string().min(1), result: jsonValue.optional(), error: toolError.nullish() })
  .superRefine(({ status, error }, ctx) => {
    if (status === 'success' && error)
      ctx.addIssue({ code: 'custom', message: '`error` must be absent when `status` is success' });
  });

/** Checked by hand: zod would report every wrong element, and a card may have half a million. */
const listOfObjects = z
  .unknown()
  .refine((list) => Array.isArray(list) && list.every(isObject), 'must be a list of objects');

const cardTypes: Readonly<Record<string, z.ZodType>> = {
  'task.instruction': z.union([prose, jsonObject, z.array(jsonValue)]),
  'agent.thought': prose,
  'tool.call': z.looseObject({ tool_name: z.string().min(1), arguments: jsonObject, status: z.string().optional() }),
  'tool.result': toolResult,
  'task.deliverable': z.union([prose, jsonObject]),
  'sys.profile': z.looseObject({ name: z.string().trim().min(1) }),
  'sys.rendered_prompt': prose,
  'sys.tools': z.looseObject({ tools: listOfObjects }),
  'meta.parent_pointer': z.looseObject({ parent_agent_id: anyId }),
  'task.result_fields': fieldsSchema,
};

/** Checks the members of metadata that Cairn reads; returns metadata with the role in lower case. */
export function checkMetadata(metadata: JsonObject): JsonObject {
  const { type, role: given } = metadata;
  if (type !== undefined && !(typeof type === 'string' && type.length >= 1 && type.length <= 100)) {
    throw invalid('metadata.type must be a string of 1 to 100 characters');
  }
  if (given === undefined || given === null) return metadata;
  const parsed = role.safeParse(readLeniently(role, given));
  if (!parsed.success) throw invalid('metadata.role must be user, assistant, system or tool');
  return parsed.data === given ? metadata : { ...metadata, role: parsed.data };
}

/** Checks content against its type; returns the content to store. */
export function checkContent(type: Json | undefined, content: Json): Json {
  const schema = typeof type === 'string' && Object.hasOwn(cardTypes, type) ? cardTypes[type] : undefined;
  if (!schema) return content;
  const parsed = schema.safeParse(content);
  if (!parsed.success) {
    const errors = parsed.error.issues
      .slice(0, 20)
      .map((issue) => `${['content', ...issue.path].join('.')}: ${issue.message}`);
    throw new CairnError('INVALID_CONTENT', `content does not fit the card type ${type}: ${errors[0]}`, { errors });
  }
  // Only the fields schema changes content (it trims names); everything else is stored exactly as sent.
  return type === 'task.result_fields' ? (parsed.data as Json) : content;
}

/** The limit of a card also holds for a packet and for the metadata of a box. */
export function checkSize(what: string, bytes: number, { max_card_bytes: limit }: Limits): void {
  if (bytes <= limit) return;
  throw new CairnError('TOO_LARGE', `${what} is ${bytes} bytes, the limit is ${limit}`, { bytes, limit });
}

export const alreadyExists = (noun: 'box' | 'card' | 'packet', id: string): CairnError =>
  new CairnError('ENTITY_ALREADY_EXISTS', `${noun} ${id} already exists with different content: use a new ${noun}_id`);
