// The counts as a table that people read and reviews show: one line an operation.
const SQLITE = ['statements', 'transactions', 'rows', 'bytes', 'frames', 'wire', 'objects'];
const POSTGRES = ['statements', 'transactions'];
const columns = [
  ...SQLITE.map((what) => ({ database: 'sqlite', what, title: what })),
  ...POSTGRES.map((what) => ({ database: 'postgres', what, title: `PostgreSQL ${what}` })),
];
/** They depend on the version of Node, of the SQLite in it, and of its headers. */
const OF_NODE = ['frames', 'wire', 'objects'];

const HEAD = `# Counts

What one call of each hot operation costs: an average of ten calls on a warm store. \`npm run counts -- --write\` writes this
file, and a test fails when a count rises or falls. Of SQLite, where nothing else is said: *statements* without BEGIN and
COMMIT, *rows* changed by the commits, *bytes* bound to statements that write, *frames* of 4 KiB written to the log (none where
the log is emptied meanwhile), *wire*: bytes sent and received over HTTP, headers included, *objects* of JavaScript held at
most at a commit or with the answer, beyond those that are there afterwards (up to 2 % more or less are no difference). Work
behind the answer counts, too.`;

/** Whether two counts are the same. A few objects come and go with the collector, so those alone have a tolerance. */
const isSame = (what, before, now) =>
  before === now || (what === 'objects' && Math.abs(now - before) <= Math.max(5, before / 50));

export const nodeVersion = `Node ${process.versions.node.split('.')[0]}`;

/** The counts with the objects of a table where they are the same, so that its lines change only when a cost does. */
export function steadied(counts, { counts: before }) {
  const objects = (name) => before.sqlite[name]?.objects;
  const sqlite = Object.entries(counts.sqlite).map(([name, one]) => [
    name,
    isSame('objects', objects(name), one.objects) ? { ...one, objects: objects(name) } : one,
  ]);
  return { ...counts, sqlite: Object.fromEntries(sqlite) };
}

/** `counts` by database and operation. */
export function render(counts) {
  const names = Object.keys(counts.sqlite).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const cell = (value) => (value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 1 }));
  const rows = names.map((name) => [
    name,
    ...columns.map(({ database, what }) => cell(counts[database][name]?.[what])),
  ]);
  const table = [['operation', ...columns.map(({ title }) => title)], ...rows];
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)));
  const line = (row) =>
    `| ${row.map((one, i) => (i === 0 ? one.padEnd(widths[i]) : one.padStart(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return `${HEAD}\n\nWritten on ${nodeVersion}.\n\n${[line(table[0]), rule, ...table.slice(1).map(line)].join('\n')}\n`;
}

/** The counts of a table, by database and operation, and the version of Node that they were written on. */
export function parse(text) {
  const counts = { sqlite: {}, postgres: {} };
  for (const [, row] of text.matchAll(/^\| (\S.*?) +\|$/gm)) {
    const [name, ...cells] = row.split('|').map((one) => one.trim());
    if (name === 'operation' || name.startsWith('---')) continue;
    columns.forEach(({ database, what }, i) => {
      counts[database][name] ??= {};
      if (cells[i]) counts[database][name][what] = Number(cells[i].replaceAll(',', ''));
    });
  }
  return { counts, node: /^Written on (Node \d+)\.$/m.exec(text)?.[1] };
}

/** What differs from the table, a line each. */
export function differences({ counts: written, node }, database, counted) {
  const lines = [];
  const names = new Set([...Object.keys(written[database]), ...Object.keys(counted)]);
  for (const name of names) {
    const [before, now] = [written[database][name], counted[name]];
    if (!before) lines.push(`${name} is not in the table`);
    else if (!now) lines.push(`${name} is in the table, and no operation`);
    else
      for (const { what } of columns.filter((column) => column.database === database)) {
        if (isSame(what, before[what], now[what]) || (OF_NODE.includes(what) && node !== nodeVersion)) continue;
        const way = now[what] > before[what] ? 'rose' : 'fell';
        lines.push(`${name} on ${database}: ${what} ${way} from ${before[what] ?? 'none'} to ${now[what] ?? 'none'}`);
      }
  }
  return lines;
}
