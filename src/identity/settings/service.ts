/** Use cases of settings. `settingsIn` and `updateSettingsIn` run in the transaction of another change as well. */
import type { Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, event, type NewPacket, type Work } from '../../engine/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { settingsCache } from './cache.js';
import { type Settings, type SettingsPatch, settingsPatch } from './model.js';
import { checkSettings, patched } from './rules.js';
import { findSettings, insertSettings, lockSettings, replaceSettings } from './store.js';
import { membersOf, shownSettings } from './views.js';

/** The settings as a query or transaction sees them, without the cache. */
const settingsIn = async (query: Query): Promise<Settings> => shownSettings(await findSettings(query));

/** Applies a patch and journals its event; a patch that changes nothing journals none. */
export async function updateSettingsIn(work: Work, patch: SettingsPatch): Promise<Settings> {
  checkSettings(patch);
  const { call, tx, now } = work;
  const row = await lockSettings(tx);
  const before = membersOf(row);
  const after = patched(before, patch);
  const names = Object.keys(settingsPatch.shape) as (keyof SettingsPatch)[];
  const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : canonical(value as Json));
  const fields = names.filter((name) => textOf(before[name]) !== textOf(after[name]));
  if (fields.length === 0) return shownSettings(row);
  // A new id rather than a counter: the copy of a change that was rolled back must match no later one.
  const next = { settings: canonical(after as Json), revision: newId(), updated_at: now };
  await (row ? replaceSettings : insertSettings)(tx, next);
  settingsCache.of(call).drop(call.tenant);
  const packet: NewPacket = {
    ...event(work, 'cairn.settings.updated', { type: 'settings', id: call.tenant }, { fields }),
    revises: next.revision,
  };
  tx.journal(packet);
  return shownSettings(next);
}

export const get = (call: Call, _input: In<'settings.get'>): Promise<Settings> =>
  settingsIn(call.driver.at(call.tenant));

export async function update(call: Call, input: In<'settings.update'>): Promise<Settings> {
  if (Object.values(input).every((value) => value === undefined))
    throw invalid('settings.update: give at least one setting to change, or null to restore its default');
  return change(call, {
    input,
    work: (work) => updateSettingsIn(work, input),
    remember: () => null,
    again: (query) => settingsIn(query),
  });
}
