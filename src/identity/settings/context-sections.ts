/** The sections of an assembled context and their settings. Declared here, since settings of a tenant have them too. */
import { z } from 'zod';

export const SECTIONS = [
  'profile',
  'instructions',
  'principles',
  'notes',
  'artifacts',
  'summaries',
  'passages',
  'turns',
  'user_input',
] as const;
export const sectionName = z.enum(SECTIONS);
export type SectionName = z.output<typeof sectionName>;

const sectionSetting = z.strictObject({
  name: sectionName,
  priority: z.int().min(0).max(1000).optional().describe('Sections of higher priority get room first'),
  share: z.number().min(0).max(1).optional().describe('Maximum fraction of the budget, even if room is left'),
  min_tokens: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Guaranteed tokens, if its content needs as many, whatever its share'),
});
export type SectionSetting = z.output<typeof sectionSetting>;

export const contextSections = z.array(sectionSetting).max(SECTIONS.length);

/** The first section that is named twice. */
export function repeatedSection(settings: readonly SectionSetting[]): SectionName | undefined {
  const named = settings.map(({ name }) => name);
  return named.find((name, i) => named.indexOf(name) < i);
}

export const DEFAULT_CONTEXT_TOKENS = 8000;

export const contextTokens = z.int().min(1).max(1_000_000);
