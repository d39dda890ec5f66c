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
  for (const { tenant_id } of await listTenants(driver.at('')))
    for await (const one of examineTenant(driver, tenant_id)) yield { ...one, check: `${tenant_id}: ${one.check}` };
}

/** Examines one tenant. */
export async function* examineTenant(driver: Driver, tenant: string): AsyncGenerator<Finding, void, undefined> {
  const ahead = await headsAfter(driver.at(''), driver.now() + CLOCK_TOLERANCE_MS);
  const head = ahead.find(({ tenant_id }) => tenant_id === tenant);
  const warnings = head ? [clockWarning(head.recorded_at - driver.now())] : [];
  yield finding('recorded times are not ahead of the clock', warnings);
  for (const { name, broken } of checks) {
    const rows = await driver.examine<{ what: string }>(tenant, broken());
    const problems = rows.map(({ what }) => what);
    yield finding(name, problems);
  }
  for (const [what, contents] of Object.entries(HASHED))
    yield finding(`${what} hold what their hashes say`, await wrongHashes(driver, tenant, contents));
  yield* searchFindings(driver, tenant);
  yield await indexFinding(driver, tenant);
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
