/** Grants of boxes to other agents, to read or write. */
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

export function grant(call: Call, input: In<'boxes.grant'>): Promise<Grant> {
  const { box_id, agent_id, access = 'read' } = input;
  return change(call, {
    input,
    work: async (work) => {
      await openBoxLocked(work, box_id, 'own');
      const row: GrantRow = { box_id, agent_id, access, granted_at: work.now };
      await putGrant(work.tx, row);
      appendEvent(work, 'cairn.box.granted', { type: 'box', id: box_id }, { agent_id, access });
      return toGrant(row);
    },
    remember: (answer) => answer,
    again: async (_query, kept) => kept as unknown as Grant,
  });
}

export async function ungrant(call: Call, input: In<'boxes.ungrant'>): Promise<void> {
  const { box_id, agent_id } = input;
  await change(call, {
    input,
    work: async (work) => {
      await openBoxLocked(work, box_id, 'own');
      const removed = await removeGrant(work.tx, box_id, agent_id);
      if (removed > 0) appendEvent(work, 'cairn.box.ungranted', { type: 'box', id: box_id }, { agent_id });
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}
