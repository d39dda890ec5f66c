/** The viewer of a call that reads packets. */
import type { Call } from '../../engine/index.js';
import { reachOf, seesAll } from '../../identity/index.js';
import type { PacketViewer } from './visibility.js';

/** Null for a caller without an agent and a user. An agent sees neither events of others' boxes nor packets beyond its reach. */
export const viewerOf = (call: Call): PacketViewer | null => {
  const agent = call.caller.agent_id;
  return seesAll(call) ? null : { agent, reach: reachOf(call, 'Packet') };
};
