// A readable line for every figure, printed as soon as it is there.

const number = (value, unit) =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)}${unit}`;

const columns = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(50) : cell.padStart(13))).join(' ');

export const heading = (kind) => `\n${columns([kind, 'ours', 'bare', 'ours / bare', 'wanted', ''])}`;

/** A mark is on the ratio, or with `mark: 'ours'` on our figure itself. A figure with nothing beside it has no ratio. */
export const isMet = ({ ours, ratio, mark, at_least, at_most }) => {
  const value = mark === 'ours' ? ours : ratio;
  return (at_least === undefined || value >= at_least) && (at_most === undefined || value <= at_most);
};

export function line({ what, ours, bare, unit, ratio, mark, at_least, at_most, met }) {
  const limit = at_least !== undefined ? `≥ ${at_least}` : at_most !== undefined ? `≤ ${at_most}` : '';
  const wanted = mark === 'ours' ? `${limit}${unit}` : limit;
  const verdict = wanted === '' ? '' : met ? 'met' : 'MISSED';
  const beside = bare === undefined ? ['', ''] : [number(bare, unit), ratio.toFixed(2)];
  return columns([what, number(ours, unit), ...beside, wanted, verdict]);
}
