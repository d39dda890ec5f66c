/** The work of a call inside one transaction: who calls, the transaction, and the moment that counts in it. */
import type { Tx } from '../../driver/index.js';
import type { Call } from './call.js';

export interface Work {
  readonly call: Call;
  readonly tx: Tx;
  readonly now: number;
}
