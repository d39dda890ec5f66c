/** Granting boxes: which other agents may read or write one. */
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change } from '../../engine/index.js';
import { toIso } from '../../kernel/index.js';
import { openBox, openBoxLocked } from './access.js';
import type { Grant } from './model.js';
import { type GrantRow, listGrants, putGrant, removeGrant } from './store.js';

const toGrant = (row: GrantRow): Grant => ({ ...row, granted_at: toIso(row.granted_at) });

export function grants(call: Call, input: In<'boxes.grants'>): Promise<Out<'boxes.grants'>> {
  return call.driver.snapshot(call.tenant, async (query) => {
    await openBox(call, query, input.box_id, 'read');
    return { grants: (await listGrants(query, input.box_id, input.order)).map(toGrant) };
  });
}

export async function grant(call: Call, input: In<'boxes.grant'>): Promise<Grant> {
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      await openBoxLocked(work, input.box_id, 'own');
      const row: GrantRow = {
        box_id: input.box_id,
        agent_id: input.agent_id,
        access: input.access ?? 'read',
        granted_at: now,
      };
      await putGrant(tx, row);
      appendEvent(
        work,
        'cairn.box.granted',
        { type: 'box', id: row.box_id },
        { agent_id: row.agent_id, access: row.access },
      );
      return toGrant(row);
    },
    remember: (answer) => answer,
    again: async (_query, kept) => kept as unknown as Grant,
  });
}

export async function ungrant(call: Call, input: In<'boxes.ungrant'>): Promise<void> {
  await change(call, {
    input,
    work: async (work) => {
      const { tx } = work;
      await openBoxLocked(work, input.box_id, 'own');
      const removed = await removeGrant(tx, input.box_id, input.agent_id);
      if (removed)
        appendEvent(work, 'cairn.box.ungranted', { type: 'box', id: input.box_id }, { agent_id: input.agent_id });
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}
