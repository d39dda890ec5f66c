// Writes dist/o200k_base.bin: the vocabulary of o200k_base as a hash table that is used as it is read. Building a Map of
// 200,000 strings takes a sixth of a second, longer than a command should take. `src/text/vocabulary.ts` reads it.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { vocabularyFile } from '../dist/text/vocabulary.js';

const entry = createRequire(import.meta.url).resolve('gpt-tokenizer/encoding/o200k_base');
const folder = join(dirname(entry), '../..');
const file = join(folder, 'data/o200k_base.tiktoken');
/** Each line is a token in base64 and its rank, which is the number of the line. */
const tokens = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line, i) => {
    const [token, rank] = line.split(' ');
    if (Number(rank) !== i) throw new Error(`${file}: line ${i + 1} has the rank ${rank}`);
    return Buffer.from(token, 'base64');
  });
mkdirSync('dist', { recursive: true });
writeFileSync('dist/o200k_base.bin', vocabularyFile(tokens));
copyFileSync(join(folder, 'LICENSE'), 'dist/o200k_base.LICENSE');

// Word vectors are in the repository: scripts/word-vectors.mjs makes them once.
for (const name of ['word-vectors.bin', 'word-vectors.LICENSE']) copyFileSync(`assets/${name}`, `dist/${name}`);
