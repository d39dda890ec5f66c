/** Who looks at packets. */
import type { Call } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import type { PacketViewer } from './visibility.js';

/** Who looks at packets: an agent does not see events about boxes of others, nor what is beyond its reach. */
export const viewerOf = (call: Call): PacketViewer | null => {
  const agent = call.caller.agent_id;
  return agent === null ? null : { agent, reach: reachOf(call, 'Packet') };
};
