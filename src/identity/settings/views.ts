/** The answer of a row of settings: what was set, and the defaults of everything else. */
import { toIso } from '../../kernel/index.js';
import { DEFAULT_SETTINGS, type Settings } from './model.js';
import type { SetMembers } from './rules.js';
import type { SettingsRow } from './store.js';

export const membersOf = (row: SettingsRow | undefined): SetMembers =>
  row === undefined ? {} : (JSON.parse(row.settings) as SetMembers);

export const shownSettings = (row: SettingsRow | undefined): Settings => ({
  ...DEFAULT_SETTINGS,
  ...membersOf(row),
  updated_at: row === undefined ? null : toIso(row.updated_at),
});
