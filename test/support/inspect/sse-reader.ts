/** Reads the event stream from the wire, with no help of the client, as slowly as a test likes. */
import { get, type IncomingMessage } from 'node:http';
import { sleep } from '../server.js';

export class SseReader {
  /** The seq of every packet, in the order of arrival, over all connections. */
  readonly seqs: number[] = [];
  /** The positions that heartbeats told of. */
  readonly beats: string[] = [];
  /** Reasons that the server gave for ending. */
  readonly reasons: string[] = [];
  lastId: string | undefined;
  ended = true;
  readonly #url: string;
  #response: IncomingMessage | undefined;

  constructor(server: string, query = '') {
    this.#url = `${server}/api/v1/events${query}`;
  }

  /** Connects behind the last event that came whole; resolves when the stream is open. */
  open(from = '0'): Promise<void> {
    const headers = { 'last-event-id': this.lastId ?? from };
    return new Promise((resolve, reject) => {
      const asked = get(this.#url, { headers, agent: false }, (response) => {
        if (response.statusCode !== 200) {
          response.resume();
          return reject(new Error(`the stream was refused with ${response.statusCode}`));
        }
        this.ended = false;
        this.#response = response;
        this.#read(response);
        resolve();
      });
      asked.on('error', reject);
    });
  }

  #read(response: IncomingMessage): void {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) this.#take(frame);
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      if (this.#response === response) this.ended = true;
    });
  }

  #take(frame: string): void {
    const field = (name: string) =>
      frame
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const event = field('event');
    const data = JSON.parse(field('data')!) as { seq?: number; latest?: string; code?: string };
    if (event === 'packet') this.seqs.push(data.seq!);
    else if (event === 'heartbeat') this.beats.push(data.latest!);
    else this.reasons.push(data.code!);
    this.lastId = field('id') ?? this.lastId;
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  /** Breaks the connection, in the middle of whatever is under way. */
  async cut(): Promise<void> {
    const response = this.#response;
    // What was parsed was taken; what is still in the pipe was not.
    response?.removeAllListeners('data');
    response?.destroy();
    this.#response = undefined;
    await sleep(0);
  }
}
