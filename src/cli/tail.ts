/** `cairn tail`: live events, one readable line each. */
import type { Cairn } from '../cairndb.js';
import type { Packet } from '../facts/contract.js';
import { readerGone } from './reader.js';
import { type Settings, withApi } from './settings.js';
import { color, plain, shorten } from './terminal.js';

/** A packet on one line: when, where in the stream, what, about what. */
export function describeEvent(packet: Packet): string {
  const time = packet.recorded_at.slice(11, 23);
  const head = `${color(90, `${time} #${packet.seq}`)} ${color(packet.packet_type.startsWith('cairn.') ? 36 : 32, plain(packet.packet_type))}`;
  if (packet.erased) return `${head} ${color(90, '(erased)')}`;
  const { entity, actor, ...facts } = packet.payload ?? {};
  const about = isEntity(entity) ? plain(` ${entity.type} ${entity.id}`) : '';
  const by = isActor(actor) ? color(90, plain(` by ${actor.agent_id}`)) : '';
  const tags = packet.tags?.length ? color(33, plain(` [${packet.tags.join(', ')}]`)) : '';
  const rest = Object.keys(facts).length > 0 ? ` ${plain(shorten(JSON.stringify(facts), 120))}` : '';
  return `${head}${about}${tags}${rest}${by}`;
}

const isEntity = (value: unknown): value is { type: string; id: string } =>
  typeof value === 'object' && value !== null && 'type' in value && 'id' in value;

const isActor = (value: unknown): value is { agent_id: string } =>
  typeof value === 'object' && value !== null && typeof (value as { agent_id?: unknown }).agent_id === 'string';

export interface TailOptions extends Settings {
  readonly after?: string;
  readonly type?: string;
  readonly json?: boolean;
}

export async function tail(options: TailOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  readerGone.addEventListener('abort', () => stop.abort());
  const follow = async (cairn: Cairn): Promise<void> => {
    const filter = {
      ...(options.after === undefined ? {} : { after: options.after }),
      ...(options.type === undefined ? {} : { packet_type: options.type }),
    };
    for await (const { packet } of cairn.events.follow(filter, { signal: stop.signal })) {
      if (packet) process.stdout.write(`${options.json ? JSON.stringify(packet) : describeEvent(packet)}\n`);
    }
  };
  await withApi(options, follow, { reads: true });
}
