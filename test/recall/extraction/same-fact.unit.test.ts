/** When two facts are one, and when they contradict each other. */
import { describe, expect, it } from 'vitest';
import { cooperativeYield } from '#cairn/kernel/index.js';
import { extractFacts } from '#cairn/recall/extraction/english/extraction.js';
import { sameFact } from '#cairn/recall/extraction/english/same-fact.js';
import type { ExtractedFact } from '#cairn/recall/extraction/extractor.js';

async function fact(text: string): Promise<ExtractedFact> {
  const source = { id: 's', role: 'user', speaker: 'Anna', text, occurred_at: '2024-03-13' };
  const facts = await extractFacts([source], { maybe_yield: cooperativeYield() });
  expect(facts, text).toHaveLength(1);
  return facts[0]!;
}

describe('facts that were extracted', () => {
  it.each([
    ['I live in Ghent.', 'I live in Ghent, Belgium.', 'same'],
    ['I live in Ghent.', 'I live in Lyon.', 'contradicts'],
    ['I live in Ghent.', 'My sister lives in Lyon.', 'different'],
    ['I like olives.', 'I love olives.', 'same'],
    ['I like olives.', "I don't like olives.", 'contradicts'],
    ['I like olives.', 'I like cheese.', 'different'],
    ['I prefer dark mode.', 'I prefer light mode.', 'contradicts'],
    ['I prefer tabs over spaces.', 'I prefer spaces over tabs.', 'contradicts'],
    ['My favorite color is teal.', 'My favourite color is red.', 'contradicts'],
    ['We decided to use MySQL for storage.', "We'll use MySQL for storage.", 'same'],
    ['We decided to use MySQL for storage.', "We'll use SQLite for storage.", 'contradicts'],
    ['We decided to use MySQL.', "We'll use SQLite instead of MySQL.", 'contradicts'],
    ['We decided to use MySQL for storage.', "We'll use Kafka for events.", 'different'],
    ["We won't use MySQL.", "We'll use MySQL.", 'contradicts'],
    ['Always use tabs in Makefiles.', 'Never use tabs in Makefiles.', 'contradicts'],
    ['The deadline is on 20 March.', 'The deadline is on 27 March.', 'contradicts'],
    ['The orders API returns 500 for bad tokens.', 'The orders API returns 401 for bad tokens.', 'contradicts'],
    ['The orders API returns 500 for bad tokens.', 'The orders API returns 400 for bad dates.', 'different'],
    ['Always run the tests before pushing.', 'Always run the tests after pushing.', 'contradicts'],
    ['Never run the tests before pushing.', 'Never run the tests after pushing.', 'different'],
    ['Never run the tests before pushing.', 'Always run the tests after pushing.', 'different'],
    ['Always deploy with the flags set.', 'Always deploy without the flags set.', 'contradicts'],
    [
      'Always deploy the frontend before the database.',
      'Always deploy the database before the frontend.',
      'contradicts',
    ],
    ['Always deploy the frontend before the database.', 'Always deploy the database after the frontend.', 'different'],
    ['Always send the files from Oslo to Bergen.', 'Always send the files from Bergen to Oslo.', 'different'],
    ['Always run all tests before pushing.', 'Always run some tests before pushing.', 'different'],
    ['I prefer meetings before noon.', 'I prefer meetings after noon.', 'contradicts'],
    ['I prefer coffee with sugar.', 'I prefer coffee without sugar.', 'contradicts'],
    ['I prefer meetings in the office.', 'I prefer meetings out of the office.', 'contradicts'],
    ['We decided to deploy before the audit.', 'We decided to deploy after the audit.', 'contradicts'],
    ['We decided to keep logs on the server.', 'We decided to keep logs off the server.', 'contradicts'],
    [
      'We decided to use Redis for jobs before the audit.',
      'We decided to use Redis for jobs after the audit.',
      'contradicts',
    ],
    ['We decided to keep latency below 20 ms.', 'We decided to keep latency above 20 ms.', 'contradicts'],
    ['We decided to migrate from Oracle to MySQL.', 'We decided to migrate from MySQL to Oracle.', 'different'],
    [
      'We decided to hold the planning meeting of the billing team in March.',
      'We decided to hold the planning meeting of the billing team in April.',
      'different',
    ],
    [
      'We decided to hold the planning meeting of the billing team every second Monday.',
      'We decided to hold the planning meeting of the billing team every third Monday.',
      'different',
    ],
    [
      'We decided to run the nightly backup job on server A.',
      'We decided to run the nightly backup job on server B.',
      'different',
    ],
    [
      'We decided to roll out plan A to enterprise customers.',
      'We decided to roll out plan B to enterprise customers.',
      'different',
    ],
    [
      'We decided to roll out the plan to enterprise customers.',
      'We decided to roll out plan A to enterprise customers.',
      'different',
    ],
    [
      'We decided to assign the payments audit project to Will.',
      'We decided to assign the payments audit project to Anna.',
      'different',
    ],
    [
      'We decided to assign the payments audit project to Will.',
      'We decided to assign the payments audit project to Will Smith.',
      'different',
    ],
    [
      'We decided to publish the public billing API of the shop.',
      'We decided to publish the billing API of the shop.',
      'different',
    ],
    [
      'We decided to hold the planning meeting of the billing team every second Monday.',
      'We decided to hold the planning meeting of the billing team every Monday.',
      'different',
    ],
    [
      'We decided to hold the planning meeting of the billing team.',
      'We decided to hold the planning meeting of the billing team in Oslo.',
      'different',
    ],
    [
      'We decided to keep the invoices of the Oslo office for years.',
      'We decided to keep the invoices of the Oslo office for two years.',
      'different',
    ],
    [
      'We decided to route all billing tickets of the shop to IT.',
      'We decided to route all billing tickets of the shop to HR.',
      'different',
    ],
    [
      'We decided to use the public billing API for the shop.',
      'We decided to use the billing API for the shop.',
      'different',
    ],
    [
      'We decided to run the nightly backup job on server A.',
      'We finally decided to run the nightly backup job on server A.',
      'same',
    ],
    [
      'We decided to assign the payments audit to Will.',
      'We decided not to assign the payments audit to Will.',
      'contradicts',
    ],
    ["I don't like peanuts.", "I can't eat peanuts.", 'different'],
    ["I can't eat peanuts.", "I don't eat peanuts.", 'same'],
    ["I don't eat almonds.", "I don't drink almonds.", 'different'],
    ['I love fish.', "I can't eat fish.", 'different'],
    ['I like to swim.', 'I like swimming.', 'same'],
    ['I prefer tea to coffee.', 'I prefer tea over coffee.', 'same'],
    ['I prefer tea in the evening.', 'I prefer tea before the evening.', 'different'],
    ['I live in Rome.', 'I live near Rome.', 'different'],
    ['I live in Rome.', 'I moved to Rome.', 'same'],
    ['I work at Acme.', 'I work for Acme and Initech.', 'different'],
    ['I speak Spanish and Catalan.', 'I speak Catalan and Spanish.', 'same'],
    [
      'To deploy the app, run make build before make test.',
      'To deploy the app, run make test before make build.',
      'different',
    ],
  ] as const)('"%s" and "%s": %s', async (a, b, relation) => {
    const [one, other] = [await fact(a), await fact(b)];
    expect(sameFact(one, other)).toBe(relation);
    expect(sameFact(other, one)).toBe(relation);
    expect(sameFact(one, one)).toBe('same');
  });
});

describe('contents of which nothing else is known', () => {
  it.each([
    ['The cache is cleared every night.', 'Every night the cache is cleared.', 'same'],
    ['The cache is cleared every night.', 'The cache is never cleared every night.', 'contradicts'],
    ['The limit is 20 requests per minute.', 'The limit is 30 requests per minute.', 'different'],
    ['The cache is cleared every night.', 'The invoices are sent on Monday.', 'different'],
    ['Deploy the frontend before the database.', 'Deploy the database before the frontend.', 'contradicts'],
    ['The orders service calls the billing API.', 'The billing API calls the orders service.', 'different'],
    ['The orders service calls the billing API.', 'The orders service is called by the billing API.', 'different'],
    ['We deploy to staging every Friday.', 'We deploy every Friday to staging.', 'same'],
    ['Anna manages Bob in the Oslo office.', 'Bob manages Anna in the Oslo office.', 'different'],
    [
      'The nightly backup of the orders database is made on Monday.',
      'The nightly backup of the orders database is made on Tuesday.',
      'different',
    ],
    [
      'Invoices of the Oslo office are kept for two years.',
      'Invoices of the Oslo office are kept for three years.',
      'different',
    ],
    ['Keep the lights in the lab on.', 'Keep the lights in the lab off.', 'contradicts'],
    ['All services except billing run on the cluster.', 'All services run on the billing cluster.', 'different'],
    ['Never push tags from the main branch.', 'Always push tags from the main branch.', 'contradicts'],
    ['Server A keeps the logs of the shop.', 'Server B keeps the logs of the shop.', 'different'],
    ['A server keeps the logs of the shop.', 'The server keeps the logs of the shop.', 'same'],
    ['The orders service calls the billing API.', 'The orders service calls the old billing API.', 'different'],
    ['The cache of the shop is cleared every night.', 'The cache of the shop is really cleared every night.', 'same'],
    ['The cache is NOT cleared every night.', 'The cache is cleared every night.', 'contradicts'],
    ['', '', 'same'],
    ['', 'Something else entirely.', 'different'],
  ] as const)('"%s" and "%s": %s', (a, b, relation) => {
    expect(sameFact({ content: a }, { content: b })).toBe(relation);
  });

  it('are what somebody is said to prefer, whoever says so', async () => {
    const content = 'prefer dark mode in every editor at night.';
    const known = await fact(`I ${content}`);
    for (const one of [`I ${content}`, 'Prefers dark mode in every editor at night.'])
      expect(sameFact({ content: one }, known)).toBe('same');
    const decided = await fact('We decided to use PostgreSQL for the billing service.');
    expect(sameFact({ content: decided.content.replace('We', 'The team') }, decided)).toBe('same');
    expect(sameFact({ content: 'Bob prefers dark mode in every editor at night.' }, known)).toBe('different');
  });

  it('are the same code only when they are', () => {
    const code = { kind: 'artifact', type: 'Code', content: 'a()\nb()' } as const;
    expect(sameFact(code, { ...code, content: 'a()\n  b()\n' })).toBe('same');
    expect(sameFact(code, { ...code, content: 'a()\nc()' })).toBe('different');
    expect(sameFact(code, { content: 'We decided to use Go.' })).toBe('different');
  });

  it('LOAD-5 are not looked for word by word in a text of many pages', async () => {
    const known = await fact('I live in Ghent.');
    const pages = `${known.content} `.repeat(1000);
    expect(sameFact(known, { content: pages })).toBe('different');
    expect(sameFact({ content: pages }, { content: pages })).toBe('same');
    expect(sameFact(known, { ...known, content: pages })).toBe('different');
  });
});
