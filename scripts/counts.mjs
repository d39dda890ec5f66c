// `npm run counts`: counts what hot operations cost (statements, rows, bytes, frames of the log, objects), and compares with
// test/api/counts.md; `--write` writes that file anew.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countIn } from '../test/support/counts/children.mjs';
import { differences, parse, render, steadied } from '../test/support/counts/table.mjs';
import { build } from './build.mjs';
import { startPostgres } from './postgres.mjs';

const FILE = 'test/api/counts.md';
const USAGE = `npm run counts -- [--write] [--show] [--only sqlite|postgres] [operation]…

  npm run counts                                   what differs from ${FILE}
  npm run counts -- --write                        write the file anew
  npm run counts -- --show --only sqlite turns.add the statements of one call`;

function flagsOf() {
  try {
    const options = { write: { type: 'boolean' }, show: { type: 'boolean' }, only: { type: 'string' } };
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean' } },
    });
    if (values.help) console.log(USAGE);
    if (values.help) process.exit(0);
    if (values.only && !['sqlite', 'postgres'].includes(values.only)) throw new Error(`there is no ${values.only}`);
    if (values.write && (values.only || positionals.length > 0)) throw new Error('--write counts everything');
    return { ...values, names: positionals };
  } catch (error) {
    console.error(`counts: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const flags = flagsOf();
build();

const args = [...(flags.show ? ['--show'] : []), ...flags.names];
const count = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-counts-'));
    try {
      return await countIn(folder, args);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  postgres: async () => {
    const server = await startPostgres();
    try {
      return await countIn(server.url(), args);
    } finally {
      await server.stop();
    }
  },
};
const counts = {};
for (const database of flags.only ? [flags.only] : Object.keys(count)) counts[database] = await count[database]();

if (flags.write) {
  writeFileSync(FILE, render(steadied(counts, parse(readFileSync(FILE, 'utf8')))));
  console.log(`counts: wrote ${FILE}`);
} else {
  const table = parse(readFileSync(FILE, 'utf8'));
  // Objects depend a little on the operations before.
  const isOne = (line) => flags.names.some((name) => line.startsWith(`${name} on`)) && !line.includes(': objects ');
  const isChosen = (line) => flags.names.length === 0 || isOne(line);
  const lines = Object.entries(counts).flatMap(([database, counted]) => differences(table, database, counted));
  for (const line of lines.filter(isChosen)) console.log(line);
  console.log(`counts: ${lines.filter(isChosen).length} differ from ${FILE}`);
}
