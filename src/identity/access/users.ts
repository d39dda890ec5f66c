/** Callers that act for a user: which operations they may call at all. */
import { type Operation, ruleOf } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';

export const needsNoUser = ({ operation, caller: { user_id } }: Call): CairnError =>
  new CairnError('FORBIDDEN', `${operation} needs a caller without a user: this one acts for user ${user_id}`, {
    rule: 'user',
    user_id,
  });

/** Of the operations that touch no memory, those that only read what is about nobody. */
const READ_ONLY = ['self', 'directory', 'recipe'];

/**
 * Work between agents, agents, recipes, policies and settings are about nobody, and all users would see them. So a caller
 * that acts for a user reads agents and recipes, and changes none of these.
 */
export function refuseForUsers(call: Call, { access, touches }: Pick<Operation, 'access' | 'touches'>): void {
  const rule = ruleOf(touches);
  if (call.caller.user_id === undefined || rule === undefined || rule === 'box' || rule === 'nothing') return;
  if (!READ_ONLY.includes(rule) || access !== 'read') throw needsNoUser(call);
}
