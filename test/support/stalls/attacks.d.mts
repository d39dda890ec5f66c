import type { CairnClient } from '#cairn/client/index.js';

export interface Target {
  readonly cairn: CairnClient;
  readonly url: string;
}

export interface Attack {
  readonly name: string;
  /** CPU time of the main thread that it may take in all, where that was the trouble. */
  readonly spends_ms?: number;
  prepare(target: Target): unknown;
  run(target: Target, prepared: unknown): unknown;
}

export const attacks: Readonly<Record<string, readonly Attack[]>>;
export const ciAttacks: readonly Attack[];
