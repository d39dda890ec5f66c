export interface Run {
  readonly figures: readonly object[];
}
export function shown(figure: object): string;
export function withFigures(text: string, run: Run): string;
export function withoutFigures(text: string): string;
