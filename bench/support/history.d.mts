import type { Run } from '../../scripts/figures.mjs';

export interface Moved {
  readonly key: string;
  readonly before?: number;
  readonly now: number;
  readonly change?: number;
  readonly state: 'new' | 'moved' | '';
}
export function newest(): string | undefined;
export function read(path: string): Run;
export function merge(before: object | undefined, run: object): Run;
export function carriedOver(run: Run, files: readonly Run[]): object[];
export function compare(before: object, now: object): Moved[];
