// Measured figures in pages, from a file of bench/history. In a page:
//   <!-- bench:packets.write, 64 callers:sqlite -->0.24      one figure; the number behind the comment is replaced
//   <!-- table:appends packets --> … <!-- /table -->         the figures of these items, with their targets
//   <!-- table:missed --> …, <!-- table:recall --> …, <!-- table:calibration --> …, <!-- table:conditions --> …
// A figure that was measured at another commit than the file is marked with °, and the conditions name that commit; with °¹,
// °² … where there are several.
import { items } from '../bench/items.mjs';
import { wantedOf } from '../bench/recall/targets.mjs';
import { keyOf, shownOf, UNKNOWN } from '../bench/support/history.mjs';
import { isMet } from '../bench/support/table.mjs';

const ONE = /(<!-- bench:(.+?):(\w+) -->)[\d.,]*\d(?:°[¹²³⁴-⁹]*)?/g;
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

/** The commits at which figures of a run were measured that it carries over. */
const olderCommits = ({ figures }) =>
  [...new Set(figures.filter(({ carried }) => carried).map(commitOf))].sort((a, b) =>
    a === UNKNOWN ? 1 : b === UNKNOWN ? -1 : 0,
  );
const commitOf = ({ carried }) => (carried === true ? UNKNOWN : carried);

function markOf(run, figure) {
  if (!figure.carried) return '';
  return marksOf(olderCommits(run)).get(commitOf(figure));
}

const DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const raised = (number) => String(number).replace(/\d/g, (digit) => DIGITS[digit]);
const marksOf = (commits) =>
  new Map(commits.map((commit, i) => [commit, commits.length === 1 ? '°' : `°${raised(i + 1)}`]));

function cell(run, figure) {
  if (!figure) return '';
  if (figure.skipped) return 'skipped';
  return withUnit(`${shown(figure)}${markOf(run, figure)}`, unitOf(figure));
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

const NOT_MEASURED = 'Not measured.';

function itemsTable(run, names) {
  const unknown = names.filter((name) => !Object.hasOwn(items, name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')} in the bench`);
  const chosen = run.figures.filter(({ item }) => names.includes(item));
  if (chosen.length === 0) return NOT_MEASURED;
  const whats = [...new Set(chosen.map(({ what }) => what))];
  return table(
    ['figure', 'target', 'SQLite', 'PostgreSQL'],
    whats.map((what) => {
      const [sqlite, postgres] = Object.keys(NAMES).map((target) =>
        chosen.find((one) => keyOf(one) === keyOf({ target, what })),
      );
      const targets = [...new Set([targetOf(sqlite), targetOf(postgres)].filter((one) => one !== ''))];
      return [what, targets.join('; '), cell(run, sqlite), cell(run, postgres)];
    }),
  );
}

function missedTable(run) {
  const missed = run.figures.filter(({ met }) => met === false);
  if (missed.length === 0) return 'None.';
  return table(
    ['figure', 'database', 'target', 'measured'],
    missed.map((one) => [one.what, NAMES[one.target], targetOf(one), cell(run, one)]),
  );
}

/** Figures are named `<set>: <measure>`. */
const namedOf = ({ figures }, item) =>
  figures.filter((one) => one.item === item).map((one) => ({ ...one, name: one.what.split(': ') }));

function recallTable(run) {
  const chosen = namedOf(run, 'recall');
  if (chosen.length === 0) return NOT_MEASURED;
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
      ...measures.map((measure) => plain(cell(run, find(set, measure)))),
      plain(targetOf(find(set, 'R@10'))),
    ]),
  );
  if (others.length === 0) return byQuestion;
  const rows = others.map((one) => [...one.name, cell(run, one), targetOf(one)]);
  return `${byQuestion}\n\n${table(['set', 'measure', 'measured', 'target'], rows)}`;
}

/** How often passages were right, by their confidence: figures `<set>: first passage, right at <range>`, and `other passages`. */
function calibrationTable(run) {
  const chosen = namedOf(run, 'calibration');
  if (chosen.length === 0) return NOT_MEASURED;
  const ranges = new Map();
  for (const one of chosen) {
    const [passages, range] = one.name[1].split(', right at ');
    ranges.set(range, { ...ranges.get(range), [passages]: [String(one.passages), cell(run, one)] });
  }
  const none = ['0', ''];
  const rows = [...ranges]
    .sort(([a], [b]) => Number.parseFloat(a) - Number.parseFloat(b))
    .map(([range, found]) => [range, ...(found['first passage'] ?? none), ...(found['other passages'] ?? none)]);
  return table(['confidence', 'first passages', 'right', 'other passages', 'right'], rows);
}

function olderNotes(run) {
  return [...marksOf(olderCommits(run))].map(([commit, mark]) => {
    if (commit === UNKNOWN) return `${mark} Measured at earlier commits; which was not kept.`;
    return `${mark} Measured at commit \`${commit}\`.`;
  });
}

function conditions(run) {
  const { date, commit, machine, databases, note } = run;
  const versions = Object.entries(databases).map(([name, version]) => `${NAMES[name]} ${version}`);
  const on = [`${machine.cores} cores (${machine.cpu})`, `Node ${machine.node}`, ...versions].join(', ');
  const lines = [`Commit \`${commit}\`, ${date.slice(0, 10)}: ${on}.`, ...(note ? [note] : []), ...olderNotes(run)];
  return lines.join('\n\n');
}

function block(run, name) {
  if (name === 'missed') return missedTable(run);
  if (name === 'recall') return recallTable(run);
  if (name === 'calibration') return calibrationTable(run);
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
      if (!figure || figure.skipped)
        throw new Error(`there is no figure ${keyOf({ target, what })}: measure it, or take it out of the page`);
      return `${comment}${shown(figure)}${markOf(run, figure)}`;
    })
    .replace(BLOCK, (_, begin, name, end) => `${begin}\n${block(run, name)}\n\n${end}`);
}

/** A page without the figures that are marked: what is left states none of its own. */
export const withoutFigures = (text) => text.replace(ONE, '').replace(BLOCK, '');
