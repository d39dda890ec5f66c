export type Counts = Record<string, Record<string, number>>;
export function countIn(target: string, args?: readonly string[]): Promise<Counts>;
