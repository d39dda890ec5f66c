/** Where the search does not know what is stored, or knows what is not: looked at page by page, and all of it. */
import { thoughtOf } from '../../checkpoints/sql.js';
import type { Driver } from '../../driver/index.js';
import { type Finding, MAX_EXAMPLES } from '../../engine/index.js';
import { type Drift, type DriftPage, type DriftRequest, STAGES } from './drift.js';
import { wrongEntries } from './index-drift.js';

const DRIFT = new URL('./drift.js', import.meta.url);
const PAGE = 200;

const kinds: Readonly<Record<Drift['kind'], string>> = {
  missing: 'all that is to be found is known to the search',
  different: 'what the search knows of a thing is what it says',
  gone: 'what the search knows is there, and current',
  double: 'the search knows each thing once',
};

/** What is wrong is put right by `cairn reindex`. */
export async function* searchFindings(driver: Driver, tenant: string): AsyncGenerator<Finding, void, undefined> {
  const found = new Map<Drift['kind'], string[]>();
  for (const stage of STAGES) {
    for (let after: string | null = ''; after !== null; ) {
      const request: DriftRequest = { tenant, stage, after, limit: PAGE, now: driver.now() };
      const page: DriftPage = await driver.away<DriftPage>(tenant, DRIFT, request);
      for (const drift of page.drifts) {
        const some = found.get(drift.kind) ?? [];
        found.set(drift.kind, some);
        const what = describe(drift);
        if (some.length < MAX_EXAMPLES && !some.includes(what)) some.push(what);
      }
      after = page.next;
    }
  }
  for (const [kind, check] of Object.entries(kinds)) {
    const problems = found.get(kind as Drift['kind']) ?? [];
    yield { check: `${tenant}: ${check}`, ok: problems.length === 0, problems };
  }
}

function describe(drift: Drift): string {
  if (!('doc' in drift)) return nameOf(drift);
  const { doc } = drift;
  const columns = drift.columns.length === 0 ? '' : ` in ${drift.columns.join(', ')}`;
  return `${nameOf(doc)}${columns}`;
}

function nameOf({ entity_type, content_id }: { entity_type: string; content_id: string }): string {
  if (entity_type !== 'thought') return `${entity_type} ${content_id}`;
  const [checkpoint_id, id] = thoughtOf(content_id);
  return `thought ${id} of checkpoint ${checkpoint_id}`;
}

/** On SQLite the index is that of all tenants. */
export async function indexFinding(driver: Driver, tenant: string): Promise<Finding> {
  const problems = (await wrongEntries(driver, tenant, MAX_EXAMPLES)).map(
    ({ doc_no, terms, entries }) => `document ${doc_no} has ${terms} terms, and ${entries} in the index`,
  );
  const whose = driver.dialect === 'postgres' ? `${tenant}: ` : '';
  return { check: `${whose}the index has the terms of the documents`, ok: problems.length === 0, problems };
}
