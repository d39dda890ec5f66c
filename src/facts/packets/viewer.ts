/** The viewer of a call that reads packets. */
import type { Call } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import type { PacketViewer } from './visibility.js';

/** Null for a key without an agent. An agent sees neither events of others' boxes nor packets beyond its reach. */
export const viewerOf = (call: Call): PacketViewer | null => {
  const agent = call.caller.agent_id;
  return agent === null ? null : { agent, reach: reachOf(call, 'Packet') };
};
