/** Operations on the event stream. */
import { z } from 'zod';
import { operation, reads } from '../../engine/contract.js';
import { text, uuid } from '../../kernel/contract.js';
import { packet } from './model.js';

export const followed = z.object({
  token: z.string().describe('Send it as `after`, or as Last-Event-ID, to resume after this event'),
  packet: packet.nullable().describe('null in a heartbeat'),
});

export const events = {
  follow: operation({
    method: 'GET',
    path: '/api/v1/events',
    input: z.strictObject({
      after: z.string().max(100).optional().describe('Resume token; "0" for all of history (default: new events only)'),
      packet_type: text(100, 1).optional().describe('Only this type, or with a trailing "*" this prefix'),
      thread_id: uuid.optional(),
    }),
    output: followed,
    access: 'read',
    touches: [reads('Packet', 'listed')],
    event: null,
    stream: true,
    frames: {
      toFrame: (item) => {
        const { packet } = item as z.output<typeof followed>;
        return packet === null ? null : { event: 'packet', data: packet };
      },
      toItem: (token, frame) => ({ token, packet: frame?.data ?? null }),
    },
    summary: 'Follow the live stream: every packet once, in order of seq, resumable.',
    example: { after: '0' },
  }),
};
