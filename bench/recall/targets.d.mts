export interface Wanted {
  readonly at_least?: number;
  readonly at_most?: number;
}
export function wantedOf(what: string): Wanted | undefined;
