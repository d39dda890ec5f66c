/** The answer of a row of settings: what was set, and the defaults of everything else. */
import { toIso } from '../../kernel/index.js';
import { DEFAULT_SETTINGS, type Settings, type TenantDefaults } from './model.js';
import type { SetMembers } from './rules.js';
import type { SettingsRow } from './store.js';

/** From the stored text; null if the tenant has set nothing. */
const readMembers = (text: string | null): SetMembers => (text === null ? {} : (JSON.parse(text) as SetMembers));

export const membersOf = (row: SettingsRow | undefined): SetMembers => readMembers(row?.settings ?? null);

export const settingsOf = (text: string | null): TenantDefaults => ({ ...DEFAULT_SETTINGS, ...readMembers(text) });

export const shownSettings = (row: SettingsRow | undefined): Settings => ({
  ...settingsOf(row?.settings ?? null),
  updated_at: row === undefined ? null : toIso(row.updated_at),
});
