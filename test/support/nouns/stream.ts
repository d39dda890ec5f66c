/** Reading the stream in tests: where it stands, and what it gives until something has arrived. */
import type { Api } from '#cairn/client/index.js';
import type { Packet } from '#cairn/facts/contract.js';
import type { TestStore } from '../targets.js';

type Follow = NonNullable<Parameters<Api['events']['follow']>[0]>;

/** The token of the newest event: whether anything was written is whether it moved. */
export async function latestToken(cairn: Api): Promise<string> {
  for await (const { token } of cairn.events.follow({})) return token;
  throw new Error('the stream ended without an item');
}

export async function latestSeq(cairn: Api): Promise<number> {
  return Number((await latestToken(cairn)).split('.')[1]);
}

export interface Followed {
  readonly token: string;
  readonly packet: Packet;
}

/** What the stream gives up to and with the first packet that fits. Fails when it does not come. */
export async function followUntil(cairn: Api, input: Follow, last: (packet: Packet) => boolean): Promise<Followed[]> {
  const followed: Followed[] = [];
  for await (const { token, packet } of cairn.events.follow(input, { signal: AbortSignal.timeout(10_000) })) {
    if (packet === null) continue;
    followed.push({ token, packet });
    if (last(packet)) return followed;
  }
  throw new Error(`the stream did not give what was waited for, but ${followed.length} other packets`);
}

/** What the stream gives up to now: a packet of the type `marker` is written behind it, and left out. */
export async function followToNow(cairn: Api, after: string, writer: Api = cairn): Promise<Packet[]> {
  const { packet_id } = await writer.packets.write({ packet_type: 'marker', payload: {} });
  const followed = await followUntil(cairn, { after }, (packet) => packet.packet_id === packet_id);
  return followed.slice(0, -1).map(({ packet }) => packet);
}

/** A moment on the store's own clock. */
export const inFuture = (test: TestStore, ms: number): string => new Date(test.store.driver.now() + ms).toISOString();
