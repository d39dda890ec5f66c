/** Which lifetimes and sections settings may have, and the default lifetime of a type. */
import type { Ttl } from '../../engine/contract.js';
import { lifetimeClassOf } from '../../engine/index.js';
import { invalid } from '../../kernel/index.js';
import { repeatedSection } from './context-sections.js';
import { ANY_TYPE, type SettingName, type SettingsPatch, type TenantDefaults } from './model.js';

/** A note of this type is always permanent. */
export const PERMANENT_NOTE = 'Procedure';

/** Refuses defaults that no request could use. */
export function checkSettings({ note_ttls, context_sections }: SettingsPatch): void {
  for (const [type, ttl] of Object.entries(note_ttls ?? {})) {
    const lifetime = lifetimeClassOf(ttl);
    if (lifetime === 'Scope')
      throw invalid(`\`note_ttls.${type}\` must not be Scope or Ephemeral: a note is in no scope`);
    if (type === PERMANENT_NOTE && lifetime !== 'Persistent')
      throw invalid(`\`note_ttls.${type}\` must be Persistent: a note of type ${type} is permanent`);
  }
  const twice = repeatedSection(context_sections ?? []);
  if (twice !== undefined) throw invalid(`\`context_sections\` must name each section once: "${twice}" is repeated`);
}

/** The members that a tenant has set; the others follow the defaults of Cairn. */
export type SetMembers = { readonly [K in SettingName]?: TenantDefaults[K] };

/** What a tenant has set after a patch: null removes a member, and an absent one stays. */
export function patched(before: SetMembers, patch: SettingsPatch): SetMembers {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null),
  );
}

/** The lifetime of a new artifact or note that names none; undefined if the tenant has set none for its type. */
export function defaultTtl(settings: TenantDefaults, kind: 'artifact' | 'note', type: string): Ttl | undefined {
  if (kind === 'note' && type === PERMANENT_NOTE) return undefined;
  const ttls = kind === 'note' ? settings.note_ttls : settings.artifact_ttls;
  // Types are any words: `constructor` must not find a member of every object.
  return [type, ANY_TYPE].flatMap((name) => (Object.hasOwn(ttls, name) ? [ttls[name]!] : []))[0];
}
