/** `cairn tail`: live events, one line each. */
import type { Cairn } from '../cairndb.js';
import type { Packet } from '../facts/contract.js';
import { isObject } from '../kernel/index.js';
import { readerGone } from './reader.js';
import { type Settings, withApi } from './settings.js';
import { color, grey, plain, shorten } from './terminal.js';

/** A packet on one line: time, sequence number, type, entity, tags, payload, actor. */
export function describeEvent(packet: Packet): string {
  const time = packet.recorded_at.slice(11, 23);
  const type = color(packet.packet_type.startsWith('cairn.') ? 36 : 32, plain(packet.packet_type));
  const head = `${grey(`${time} #${packet.seq}`)} ${type}`;
  if (packet.erased) return `${head} ${grey('(erased)')}`;
  const { entity, actor, ...facts } = packet.payload ?? {};
  const about = isEntity(entity) ? plain(` ${entity.type} ${entity.id}`) : '';
  const by = isActor(actor) ? grey(plain(` by ${actor.agent_id}`)) : '';
  const tags = packet.tags?.length ? color(33, plain(` [${packet.tags.join(', ')}]`)) : '';
  const rest = Object.keys(facts).length > 0 ? ` ${plain(shorten(JSON.stringify(facts), 120))}` : '';
  return `${head}${about}${tags}${rest}${by}`;
}

const isEntity = (value: unknown): value is { type: string; id: string } =>
  isObject(value) && 'type' in value && 'id' in value;

const isActor = (value: unknown): value is { agent_id: string } =>
  isObject(value) && typeof value.agent_id === 'string';

interface TailOptions extends Settings {
  readonly after?: string;
  readonly type?: string;
  readonly json?: boolean;
}

export async function tail(options: TailOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  readerGone.addEventListener('abort', () => stop.abort());
  const print = async (cairn: Cairn): Promise<void> => {
    const filter = {
      ...(options.after === undefined ? {} : { after: options.after }),
      ...(options.type === undefined ? {} : { packet_type: options.type }),
    };
    for await (const { packet } of cairn.events.follow(filter, { signal: stop.signal }))
      if (packet) process.stdout.write(`${options.json ? JSON.stringify(packet) : describeEvent(packet)}\n`);
  };
  await withApi(options, print, { reads: true });
}
