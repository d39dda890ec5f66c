/** Load whose every step is written down, so that afterwards the store can be held against what it acknowledged. */
import type { Api } from '#cairn/client/index.js';
import type { CairnError } from '#cairn/kernel/index.js';
import { sleep } from '../server.js';

export type Step = 'card' | 'append' | 'packet';

/** What was asked for, by a mark that each step carries, and whether it was acknowledged. */
export class Ledger {
  readonly steps = new Map<string, { readonly step: Step; acknowledged: boolean; box_id?: string }>();
  /** Codes of refusals, with their number. */
  readonly refusals = new Map<string, number>();

  async ask<T>(mark: string, step: Step, call: () => Promise<T>, box_id?: string): Promise<T | undefined> {
    const entry = this.steps.get(mark) ?? { step, acknowledged: false, ...(box_id ? { box_id } : {}) };
    this.steps.set(mark, entry);
    try {
      const answer = await call();
      entry.acknowledged = true;
      return answer;
    } catch (error) {
      const { code, status } = error as Partial<CairnError>;
      // A body that was cut off, or a connection: the outcome is not known, which is as good as not acknowledged.
      const name = code ?? (error as Error).message;
      this.refusals.set(name, (this.refusals.get(name) ?? 0) + 1);
      if (status !== undefined && status < 500) throw error;
      return undefined;
    }
  }

  get acknowledged(): number {
    return [...this.steps.values()].filter((one) => one.acknowledged).length;
  }
}

export interface LoadOptions {
  readonly clients: number;
  /** Distinguishes this load's marks from all others. */
  readonly name: string;
  readonly box_ids: readonly string[];
  readonly ledger: Ledger;
  /** Ends the load after the steps under way. */
  readonly stop: AbortSignal;
  /** Rounds of each client; without end unless given. */
  readonly rounds?: number;
}

/** Each client adds a card, appends it to a box and writes a packet, over and over, one step after another. */
export async function runLoad(apis: readonly Api[], options: LoadOptions): Promise<void> {
  const clients = Array.from({ length: options.clients }, (_, i) =>
    runClient(apis[i % apis.length]!, `${options.name}/${i}`, i, options),
  );
  await Promise.all(clients);
}

async function runClient(api: Api, name: string, i: number, options: LoadOptions): Promise<void> {
  const { ledger, stop, box_ids, rounds = Number.POSITIVE_INFINITY } = options;
  for (let n = 0; n < rounds && !stop.aborted; n++) {
    const mark = `${name}/${n}`;
    // Ids are made by the server: a write that was done twice shows.
    const card = await ledger.ask(`${mark}/card`, 'card', () => api.cards.add({ content: { mark: `${mark}/card` } }));
    if (stop.aborted) return;
    if (card) {
      const box_id = box_ids[(i + n) % box_ids.length]!;
      await ledger.ask(
        `${card.card_id}`,
        'append',
        () => api.boxes.append({ box_id, card_ids: [card.card_id] }),
        box_id,
      );
    }
    if (stop.aborted) return;
    await writePacket(api, `${mark}/packet`, n % 2 === 1, options);
    if (ledger.refusals.size > 0) await sleep(5);
  }
}

/** With a key, what was not acknowledged is asked for again until it is, as a careful client does. */
async function writePacket(api: Api, mark: string, careful: boolean, options: LoadOptions): Promise<void> {
  const { ledger, stop } = options;
  const packet = { packet_type: 'load', payload: { mark }, tags: ['load'] };
  const call = careful ? { idempotency_key: `key:${mark}` } : {};
  for (;;) {
    const written = await ledger.ask(mark, 'packet', () => api.packets.write(packet, call));
    if (written || !careful || stop.aborted) return;
    await sleep(20);
  }
}
