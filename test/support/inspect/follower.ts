/** Follows the event stream through the client, which resumes by itself, and keeps the order of what it saw. */
import type { Api } from '#cairn/client/index.js';
import type { CairnError } from '#cairn/kernel/index.js';
import { until } from '../server.js';

export class Follower {
  readonly seqs: number[] = [];
  token: string | undefined;
  failure: unknown;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(api: Api, after = '0') {
    this.#ended = this.#follow(api, after);
  }

  async #follow(api: Api, after: string): Promise<void> {
    for (;;) {
      try {
        const input = { after: this.token ?? after };
        for await (const { token, packet } of api.events.follow(input, { signal: this.#stop.signal })) {
          this.token = token;
          if (packet) this.seqs.push(packet.seq);
        }
        return;
      } catch (error) {
        // The client gives up on a server that it finds down ten times, as one is that is killed again and again.
        if ((error as CairnError).code === 'SERVER_UNREACHABLE') continue;
        if (!this.#stop.signal.aborted) this.failure = error;
        return;
      }
    }
  }

  /** Waits until this seq was seen, then ends. Gives what it saw out of turn: nothing, if all is well. */
  async endAt(head: number): Promise<string[]> {
    await until(
      `the follower to reach ${head}, it is at ${this.seqs.at(-1)}`,
      () => this.failure !== undefined || (this.seqs.at(-1) ?? 0) >= head,
    );
    this.#stop.abort();
    await this.#ended;
    const first = this.seqs[0] ?? 0;
    const wrong = this.seqs.flatMap((seq, i) => (seq === first + i ? [] : [`${seq} at place ${first + i}`]));
    if (this.failure !== undefined) wrong.push(String(this.failure));
    return wrong.slice(0, 10);
  }
}
