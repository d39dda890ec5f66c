/** The doctor's checks of the search: compares all content with search_docs and the index. */
import { parseThoughtContentId } from '../../checkpoints/sql.js';
import type { Driver } from '../../driver/index.js';
import { type Finding, MAX_EXAMPLES } from '../../engine/index.js';
import { type Drift, type DriftPage, type DriftRequest, STAGES } from './drift.js';
import type { SegmentCheck, SegmentCheckRequest } from './segment-check.js';

const DRIFT = new URL('./drift.js', import.meta.url);
const SEGMENT_CHECK = new URL('./segment-check.js', import.meta.url);
const PAGE = 200;

const checks: Readonly<Record<Drift['kind'], string>> = {
  missing: 'every searchable content has a search document',
  different: 'search documents match their content',
  gone: 'the content of every search document exists and is current',
  double: 'no content has two search documents',
};

/** `cairn reindex` repairs the problems found. */
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
  for (const [kind, check] of Object.entries(checks)) {
    const problems = found.get(kind as Drift['kind']) ?? [];
    yield { check, ok: problems.length === 0, problems };
  }
}

function describe(drift: Drift): string {
  if (!('doc' in drift)) return nameOf(drift);
  return nameOf(drift.doc) + (drift.columns.length === 0 ? '' : ` in ${drift.columns.join(', ')}`);
}

function nameOf({ entity_type, content_id }: { entity_type: string; content_id: string }): string {
  if (entity_type !== 'thought') return `${entity_type} ${content_id}`;
  const [checkpoint_id, id] = parseThoughtContentId(content_id);
  return `thought ${id} of checkpoint ${checkpoint_id}`;
}

/** Compares every segment of the index with the contents. */
export async function indexFinding(driver: Driver, tenant: string): Promise<Finding> {
  const problems: string[] = [];
  for (let after = 0; problems.length < MAX_EXAMPLES; ) {
    const request: SegmentCheckRequest = { after, max_problems: MAX_EXAMPLES - problems.length };
    const found: SegmentCheck | undefined = await driver.away(tenant, SEGMENT_CHECK, request);
    if (!found) break;
    problems.push(...found.problems);
    after = found.row.last_doc;
  }
  return { check: 'the index has the terms of its documents', ok: problems.length === 0, problems };
}
