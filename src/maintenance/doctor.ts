/** Examines a whole store: the database's own check, every invariant, every hash, and the search. */
import type { Driver } from '../driver/index.js';
import { type Finding, headsAfter, listTenants, MAX_EXAMPLES } from '../engine/index.js';
import { cardContents, packetContents } from '../facts/index.js';
import { CLOCK_TOLERANCE_MS, clockWarning } from '../kernel/index.js';
import { indexFinding, searchFindings } from '../recall/index.js';
import { checks } from './checks.js';

const PAGE = 500;

const HASHED = { cards: cardContents, packets: packetContents } as const;

/** Yields findings one by one, so that a long examination shows progress. */
export async function* examine(driver: Driver): AsyncGenerator<Finding, void, undefined> {
  yield finding('the database is sound', await driver.integrity());
  const ahead = await headsAfter(driver.at(''), driver.now() + CLOCK_TOLERANCE_MS);
  for (const { tenant_id } of await listTenants(driver.at(''))) {
    const head = ahead.find((one) => one.tenant_id === tenant_id);
    const warnings = head ? [clockWarning(head.recorded_at - driver.now())] : [];
    yield finding(`${tenant_id}: recorded times are not ahead of the clock`, warnings);
    for (const { name, broken } of checks) {
      const rows = await driver.examine<{ what: string }>(tenant_id, broken());
      const problems = rows.map(({ what }) => what);
      yield finding(`${tenant_id}: ${name}`, problems);
    }
    for (const [what, contents] of Object.entries(HASHED))
      yield finding(`${tenant_id}: ${what} hold what their hashes say`, await wrongHashes(driver, tenant_id, contents));
    yield* searchFindings(driver, tenant_id);
    yield await indexFinding(driver, tenant_id);
  }
}

const finding = (check: string, problems: readonly string[]): Finding => ({
  check,
  ok: problems.length === 0,
  problems,
});

async function wrongHashes(driver: Driver, tenant: string, contents: typeof cardContents): Promise<string[]> {
  const wrong: string[] = [];
  let after = '';
  for (;;) {
    const rows = await contents(driver.at(tenant), after, PAGE);
    for (const { id, intact } of rows) if (!intact && wrong.length < MAX_EXAMPLES) wrong.push(id);
    if (rows.length < PAGE) return wrong;
    after = rows.at(-1)!.id;
  }
}
