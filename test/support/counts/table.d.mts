import type { Counts } from './children.mjs';

export type Database = 'sqlite' | 'postgres';
export interface Table {
  readonly counts: Record<Database, Counts>;
  readonly node: string | undefined;
}
export function render(counts: Record<Database, Counts>): string;
export function parse(text: string): Table;
export function differences(table: Table, database: Database, counted: Counts): string[];
