// A readable line for every figure, printed as soon as it is there.

const number = (value, unit) =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)}${unit}`;

const columns = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(46) : cell.padStart(13))).join(' ');

export const heading = (kind) => `\n${columns([kind, 'ours', 'bare', 'ours / bare', 'wanted', ''])}`;

export function line({ what, ours, bare, unit, ratio, at_least, at_most, met }) {
  const wanted = at_least !== undefined ? `≥ ${at_least}` : at_most !== undefined ? `≤ ${at_most}` : '';
  const verdict = wanted === '' ? '' : met ? 'met' : 'MISSED';
  return columns([what, number(ours, unit), number(bare, unit), ratio.toFixed(2), wanted, verdict]);
}
