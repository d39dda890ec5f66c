// The nearest of a tenant's vectors on PostgreSQL: by pgvector's index, against comparing all by their bits. On SQLite, what
// the vectors of words take.
import { schema as tables } from '../dist/api/schema.js';
import { openPostgres } from '../dist/driver/postgres/driver.js';
import { packetJournal } from '../dist/engine/writes/journal.js';
import { VECTOR_TABLE } from '../dist/index/vectors/indexing.js';
import { nearest } from '../dist/recall/vectors/nearest.js';
import { startPgvector } from '../scripts/pgvector.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { seeded } from './support/seeded.mjs';
import { wordVectorFigures } from './word-vectors.mjs';

const DIMENSIONS = 384;
const MODEL = 'bench';
const TOPICS = 200;
const BATCH = 1000;
const NEAREST = 1000;

export async function vectors({ target, quick, report }) {
  if (target.kind === 'sqlite') return wordVectorFigures({ target, quick, report });
  const docs = quick ? 20_000 : 100_000;
  const server = await startPgvector();
  const journal = packetJournal(() => driver.now());
  // That server has one session for all, in which only who owns the tables can make an index.
  const driver = await openPostgres(server.url, { journal, schema: tables, pool_size: 1, row_level_security: false });
  try {
    await driver.migrate();
    await server.query('CREATE EXTENSION vector');
    const vectorOf = vectorsIn(seeded(21));
    for (let doc_no = 1; doc_no <= docs; doc_no += BATCH)
      await server.query(
        `INSERT INTO vector_docs (tenant_id, doc_no, model, content_hash, dimensions, bits, attempts)
          SELECT 'default', $1 + ordinality, $2, 'h' || ordinality, ${DIMENSIONS}, bits::bit varying, 1
          FROM unnest($3::text[]) WITH ORDINALITY AS made (bits, ordinality)`,
        [doc_no - 1, MODEL, Array.from({ length: BATCH }, () => digitsOf(vectorOf()))],
      );
    const { schema } = await driver.vectors.look(VECTOR_TABLE);
    await driver.vectors.index(VECTOR_TABLE, schema, { tenant: 'default', model: MODEL, dimensions: DIMENSIONS });

    const questions = Array.from({ length: quick ? 5 : 10 }, vectorOf);
    const ask = (operators) => (vector) =>
      driver.snapshot('default', (query) =>
        nearest(
          query,
          { tenant: 'default', store: '', docs },
          { model: MODEL, vector, weight: 1, dialect: 'postgres', operators },
          { from: 0, to: docs },
          NEAREST,
        ),
      );
    const [byIndex, compared] = [ask({ schema, from: 0 }), ask(undefined)];
    const { rate, ratio, noise } = await interleave(
      { ours: () => byCallers(1, questions, byIndex), bare: () => byCallers(1, questions, compared) },
      quick ? 3 : 5,
    );
    report({
      what: `the nearest of ${docs.toLocaleString('en')} by pgvector`,
      ours: 1000 / rate('ours'),
      bare: 1000 / rate('bare'),
      unit: ' ms',
      ratio: 1 / ratio('ours', 'bare'),
      noise: noise('ours', 'bare'),
      at_most: 1,
    });
    const shares = [];
    for (const vector of questions) {
      const found = new Set(await byIndex(vector));
      const best = (await compared(vector)).slice(0, 200);
      shares.push(best.filter((doc_no) => found.has(doc_no)).length / best.length);
    }
    const share = (100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length;
    report({
      what: `of the best 200 of ${docs.toLocaleString('en')}, found by pgvector`,
      ours: share,
      unit: ' %',
      mark: 'ours',
      at_least: 95,
    });
  } finally {
    await driver.close();
    await server.stop();
  }
}

/** Around some topics, as texts are. */
function vectorsIn(next) {
  const member = () => next() / 2 ** 32 - 0.5;
  const topics = Array.from({ length: TOPICS }, () => Float32Array.from({ length: DIMENSIONS }, member));
  return () => {
    const topic = topics[next() % TOPICS];
    return topic.map((one) => one + 0.8 * member());
  };
}

const digitsOf = (vector) => Array.from(vector, (member) => (member > 0 ? '1' : '0')).join('');
