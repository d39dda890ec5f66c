/** The progress of long work: a bar on a terminal, else a line every five seconds. */
import { withCommas } from '../kernel/index.js';
import { redrawsLines } from './terminal.js';

const WIDTH = 30;
const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;

export class Progress {
  readonly #verb: string;
  readonly #isTerminal = redrawsLines(process.stderr);
  #shown: number;
  #last = '';

  /** `verb` is in the past tense, such as `indexed`. */
  constructor(verb: string) {
    this.#verb = verb;
    this.#shown = this.#isTerminal ? 0 : performance.now();
  }

  show(done: number, total: number): void {
    const now = performance.now();
    if (now - this.#shown < (this.#isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS) && done < total) return;
    this.#shown = now;
    const share = total === 0 ? 1 : Math.min(done / total, 1);
    const text = `${Math.floor(share * 100)} %, ${this.#verb} ${withCommas(done)} of ${withCommas(total)}`;
    if (text === this.#last) return;
    this.#last = text;
    if (!this.#isTerminal) process.stderr.write(`${text}\n`);
    else {
      const full = Math.round(share * WIDTH);
      process.stderr.write(`\r\u001b[K${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${text}`);
    }
  }

  end(): void {
    if (this.#isTerminal && this.#last !== '') process.stderr.write('\r\u001b[K');
  }
}
