import type { CairnClient } from '#cairn/client/index.js';

export interface Target {
  readonly cairn: CairnClient;
  readonly url: string;
}

export interface Attack {
  readonly name: string;
  prepare(target: Target): unknown;
  run(target: Target, prepared: unknown): unknown;
}

export const attacks: Readonly<Record<string, readonly Attack[]>>;
export const ciAttacks: readonly Attack[];
