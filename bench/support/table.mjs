// A readable line for every figure, printed as soon as it is there.

const number = (value, unit) =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)}${unit}`;

const columns = (cells, first = 50) =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(first) : cell.padStart(13))).join(' ');

export const heading = (kind) => `\n${columns([kind, 'ours', 'bare', 'ours / bare', 'wanted', ''])}`;

/** A mark is on the ratio, or with `mark: 'ours'` on our figure itself. A figure with nothing beside it has no ratio. */
export const isMet = ({ ours, ratio, mark, at_least, at_most }) => {
  const value = mark === 'ours' ? ours : ratio;
  return (at_least === undefined || value >= at_least) && (at_most === undefined || value <= at_most);
};

/** A figure that could not be measured says why. */
export function line({ what, ours, bare, unit, ratio, mark, at_least, at_most, met, skipped }) {
  if (skipped) return `${what} skipped: ${skipped}`;
  const limit = at_least !== undefined ? `≥ ${at_least}` : at_most !== undefined ? `≤ ${at_most}` : '';
  const wanted = mark === 'ours' ? `${limit}${unit}` : limit;
  const verdict = wanted === '' ? '' : met ? 'met' : 'MISSED';
  const beside = bare === undefined ? ['', ''] : [number(bare, unit), ratio.toFixed(2)];
  return columns([what, number(ours, unit), ...beside, wanted, verdict]);
}

const plain = (value) => (value === undefined ? '' : number(value, ''));
const percent = (share) => `${share >= 0 ? '+' : ''}${Math.round(100 * share)} %`;

/** A figure before and now. */
export function movedLine({ key, before, now, change, noise, state }) {
  const moved = change === undefined ? ['', ''] : [percent(change), `± ${Math.round(100 * noise)} %`];
  return columns([key, plain(before), plain(now), ...moved, state.toUpperCase()], 70);
}
