// Measured figures in pages, from a file of bench/history. In a page:
//   <!-- bench:packets.write, 64 callers:sqlite -->0.24      one figure; the number behind the comment is replaced
//   <!-- table:appends packets --> … <!-- /table -->         the figures of these items, with their targets
//   <!-- table:missed --> …, <!-- table:recall --> …, <!-- table:conditions --> …
import { wantedOf } from '../bench/recall/targets.mjs';
import { keyOf, shownOf } from '../bench/support/history.mjs';
import { isMet } from '../bench/support/table.mjs';

const ONE = /(<!-- bench:(.+?):(\w+) -->)[\d.,]*\d/g;
const BLOCK = /(<!-- table:([\w ]+) -->\n)[\s\S]*?(<!-- \/table -->)/g;
const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const isOurs = ({ ratio, mark }) => ratio === undefined || mark === 'ours';

/** A ratio with two decimals, a figure with a unit with as many as it needs. */
export function shown(figure) {
  const value = shownOf(figure);
  if (value >= 100) return Math.round(value).toLocaleString('en');
  if (isOurs(figure) || value >= 10) return String(Number(value.toFixed(value >= 10 ? 1 : 2)));
  return value.toFixed(2);
}

const unitOf = (figure) => (isOurs(figure) ? (figure.unit ?? '').trim().replace('/s', ' a second') : '');
const withUnit = (value, unit) => `${value}${unit === '' || unit === '×' || unit.startsWith(' ') ? unit : ` ${unit}`}`;

function cell(figure) {
  if (!figure) return '';
  if (figure.skipped) return 'skipped';
  return withUnit(`${shown(figure)}${figure.carried ? '°' : ''}`, unitOf(figure));
}

function targetOf(figure) {
  const { at_least, at_most } = figure ?? {};
  if (at_least === undefined && at_most === undefined) return '';
  return withUnit(at_least === undefined ? `≤ ${at_most}` : `≥ ${at_least}`, unitOf(figure));
}

function table(head, rows) {
  const cells = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => [...row[column]].length)));
  const line = (row) => `| ${row.map((one, i) => one + ' '.repeat(widths[i] - [...one].length)).join(' | ')} |`;
  const [first, ...rest] = cells.map(line);
  return [first, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest].join('\n');
}

function itemsTable({ figures }, items) {
  const chosen = figures.filter(({ item }) => items.includes(item));
  if (chosen.length === 0) throw new Error(`there are no figures of ${items.join(', ')}`);
  const whats = [...new Set(chosen.map(({ what }) => what))];
  return table(
    ['figure', 'target', 'SQLite', 'PostgreSQL'],
    whats.map((what) => {
      const [sqlite, postgres] = Object.keys(NAMES).map((target) =>
        chosen.find((one) => keyOf(one) === keyOf({ target, what })),
      );
      const targets = [...new Set([targetOf(sqlite), targetOf(postgres)].filter((one) => one !== ''))];
      return [what, targets.join('; '), cell(sqlite), cell(postgres)];
    }),
  );
}

const missedTable = ({ figures }) =>
  table(
    ['figure', 'database', 'target', 'measured'],
    figures.filter(({ met }) => met === false).map((one) => [one.what, NAMES[one.target], targetOf(one), cell(one)]),
  );

/** Figures are named `<set>: <measure>`. */
function recallTable({ figures }) {
  const chosen = figures.filter(({ item }) => item === 'recall').map((one) => ({ ...one, name: one.what.split(': ') }));
  const sets = [...new Set(chosen.map(({ name }) => name[0]))];
  const find = (set, measure) => chosen.find(({ name }) => name[0] === set && name[1] === measure);
  const plain = (text) => text.replace(/ %$/, '');
  const conversations = sets.filter((set) => find(set, 'R@10'));
  const others = chosen.filter(({ name }) => !conversations.includes(name[0]));
  const measures = [
    ...new Set(chosen.filter(({ name }) => conversations.includes(name[0])).map(({ name }) => name[1])),
  ];
  const byQuestion = table(
    ['set', ...measures, 'target R@10'],
    conversations.map((set) => [
      set,
      ...measures.map((measure) => plain(cell(find(set, measure)))),
      plain(targetOf(find(set, 'R@10'))),
    ]),
  );
  if (others.length === 0) return byQuestion;
  const rows = others.map((one) => [...one.name, cell(one), targetOf(one)]);
  return `${byQuestion}\n\n${table(['set', 'measure', 'measured', 'target'], rows)}`;
}

function conditions({ date, commit, machine, databases, note, carried }) {
  const versions = Object.entries(databases).map(([name, version]) => `${NAMES[name]} ${version}`);
  const lines = [
    `Commit \`${commit}\`, ${date.slice(0, 10)}: ${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${versions.join(', ')}.`,
    ...(note ? [note] : []),
    ...(carried ? [`° ${carried}`] : []),
  ];
  return lines.join('\n\n');
}

function block(run, name) {
  if (name === 'missed') return missedTable(run);
  if (name === 'recall') return recallTable(run);
  if (name === 'conditions') return conditions(run);
  return itemsTable(run, name.split(' '));
}

/** A figure of recall with the target of today: the file has the one of when it was measured. */
function withTarget(figure) {
  if (figure.item !== 'recall') return figure;
  const { at_least, at_most, ...measured } = figure;
  const wanted = wantedOf(figure.what);
  const marked = wanted === undefined ? measured : { ...measured, mark: 'ours', ...wanted };
  return { ...marked, met: isMet(marked) };
}

/** The page with the figures of a run. */
export function withFigures(text, measured) {
  const run = { ...measured, figures: measured.figures.map(withTarget) };
  const byKey = new Map(run.figures.map((figure) => [keyOf(figure), figure]));
  return text
    .replace(ONE, (_, comment, what, target) => {
      const figure = byKey.get(keyOf({ target, what }));
      if (!figure || figure.skipped) throw new Error(`there is no figure ${keyOf({ target, what })}`);
      return `${comment}${shown(figure)}`;
    })
    .replace(BLOCK, (_, begin, name, end) => `${begin}\n${block(run, name)}\n\n${end}`);
}

/** A page without the figures that are marked: what is left states none of its own. */
export const withoutFigures = (text) => text.replace(ONE, '').replace(BLOCK, '');
