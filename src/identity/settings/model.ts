/** Settings of a tenant: the defaults of requests that do not say otherwise. */
import { z } from 'zod';
import { ttl } from '../../engine/contract.js';
import { instant, text } from '../../kernel/contract.js';
import { contextSections, contextTokens, DEFAULT_CONTEXT_TOKENS } from './context-sections.js';

/** What a scope leaves behind when it closes. */
export const retain = z.enum(['digest', 'nothing']).describe('What a closing scope leaves: a digest, or nothing');
export type Retain = z.output<typeof retain>;

/** The key of a map of lifetimes that stands for all types without one of their own. */
export const ANY_TYPE = '*';
const MAX_TTLS = 100;

const ttls = z
  .record(text(100, 1), ttl)
  .refine((map) => Object.keys(map).length <= MAX_TTLS, `must have at most ${MAX_TTLS} types`);

const ttlsBy = (type: string): string =>
  `Lifetimes of new entities by ${type}, with * for all others; default: Persistent`;

const members = {
  artifact_ttls: ttls.describe(ttlsBy('artifact_type')),
  note_ttls: ttls.describe(ttlsBy('note_type')),
  retain,
  context_token_budget: contextTokens.describe('token_budget of assembled contexts'),
  context_sections: contextSections.describe('sections of assembled contexts'),
};

/** Used where a tenant has set nothing. */
export const DEFAULT_SETTINGS: TenantDefaults = {
  artifact_ttls: {},
  note_ttls: {},
  retain: 'digest',
  context_token_budget: DEFAULT_CONTEXT_TOKENS,
  context_sections: [],
};

/** The members that can be set, all present. */
export type TenantDefaults = z.output<z.ZodObject<typeof members>>;
export type SettingName = keyof TenantDefaults;

export const settings = z
  .object({ ...members, updated_at: instant.nullable().describe('When a setting last changed; null if none was set') })
  .meta({ id: 'Settings' });
export type Settings = z.output<typeof settings>;

export const settingsPatch = z.strictObject({
  artifact_ttls: ttls.nullish().describe(ttlsBy('artifact_type')),
  note_ttls: ttls.nullish().describe(ttlsBy('note_type')),
  retain: retain
    .nullish()
    .describe(`What a closing scope leaves if it does not say so itself; default: ${DEFAULT_SETTINGS.retain}`),
  context_token_budget: contextTokens.nullish().describe('token_budget of assembled contexts; default: 8,000'),
  context_sections: contextSections
    .nullish()
    .describe('Order and room of the sections of assembled contexts; default: the usual order'),
});
export type SettingsPatch = z.output<typeof settingsPatch>;
