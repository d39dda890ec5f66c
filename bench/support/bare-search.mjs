// A full-text table over the texts of a store's turns, in the same database, asked by bare statements.
import { openBare } from './databases.mjs';

/** So many candidates, as Cairn takes them to rank. */
const CANDIDATES = 300;

/** Makes the table from what is stored; gives a function that asks it for ids and contents, the best first. */
export async function openBareSearch(kind, database) {
  const bare = await openBare(kind, database);
  return kind === 'sqlite' ? sqliteSearch(bare) : postgresSearch(bare);
}

async function sqliteSearch(bare) {
  await bare.exec(`CREATE VIRTUAL TABLE bare_search USING fts5(card_id UNINDEXED, content, tokenize = 'porter')`);
  await bare.exec(`INSERT INTO bare_search (card_id, content)
    SELECT card_id, content ->> '$' FROM cards WHERE held_by IS NOT NULL ORDER BY card_id`);
  const statement = bare.prepare(
    `SELECT card_id, content FROM bare_search WHERE bare_search MATCH $1 ORDER BY rank LIMIT ${CANDIDATES}`,
  );
  return { ask: (question) => statement.all(question.split(' ').join(' OR ')), close: () => bare.close() };
}

async function postgresSearch(bare) {
  await bare.exec(
    'CREATE TABLE bare_search (card_id TEXT PRIMARY KEY, content TEXT NOT NULL, terms TSVECTOR NOT NULL)',
  );
  await bare.exec(`INSERT INTO bare_search (card_id, content, terms)
    SELECT card_id, content #>> '{}', to_tsvector('english', content #>> '{}') FROM cards WHERE held_by IS NOT NULL`);
  await bare.exec('CREATE INDEX bare_search_terms ON bare_search USING GIN (terms)');
  await bare.exec('VACUUM ANALYZE bare_search');
  return {
    ask: async (question) => {
      const { rows } = await bare.run(
        `SELECT card_id, content FROM bare_search WHERE terms @@ to_tsquery('english', $1)
         ORDER BY ts_rank(terms, to_tsquery('english', $1)) DESC LIMIT ${CANDIDATES}`,
        [question.split(' ').join(' | ')],
      );
      return rows;
    },
    close: () => bare.close(),
  };
}
