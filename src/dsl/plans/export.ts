/** Writes what a tenant has as a source. */
import type { In } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, cooperativeYield, runWithYields } from '../../kernel/index.js';
import { KIND_NAMES, type KindName } from '../checks/kind-names.js';
import { kinds, type Target } from '../checks/kinds.js';
import { type Definition, MAX_DEFINITIONS, MAX_SOURCE } from '../syntax/ast.js';
import { formatDocument } from '../syntax/format.js';
import type { Exported, LeftOut } from './model.js';
import { allStored, type Stored } from './stored.js';
import { type Defined, nameOf, ValueWriter } from './written-values.js';

interface Found {
  readonly kind: KindName;
  readonly name: string;
  /** Under the names of the language. */
  readonly fields: JsonObject;
}

const tooMuch = (what: string): CairnError =>
  new CairnError(
    'STATE_CONFLICT',
    `the tenant has more than fits into a source, ${what}: export one \`kind\` at a time`,
  );

/** Fields under the names of the language; what an agent has by default is left out, but for its rights. */
function fieldsOf(kind: KindName, { fields }: Stored): JsonObject {
  const short = new Map(Object.entries(kinds[kind].renamed).map(([name, member]) => [member, name]));
  const named = Object.entries(fields).map(([member, value]) => [short.get(member) ?? member, value] as const);
  const isDefault = (name: string, value: unknown): boolean =>
    kind === 'agent' &&
    ((name === 'offline_after' && value === 60_000) ||
      (name === 'metadata' && Object.keys(value as object).length === 0));
  return Object.fromEntries(named.filter(([name, value]) => !isDefault(name, value)));
}

/** What the tenant has, in the order of kinds and names. Stops once it exceeds a source. */
async function findAll(call: Call, chosen: KindName | undefined): Promise<{ found: Found[]; left_out: LeftOut[] }> {
  const found: Found[] = [];
  const left_out: LeftOut[] = [];
  let length = 0;
  for (const kind of chosen === undefined ? KIND_NAMES : [chosen]) {
    for await (const page of allStored(call.driver.at(call.tenant), kind)) {
      for (const stored of page) {
        const { name, problem } = stored;
        if (problem !== undefined) left_out.push({ kind, name, reason: problem });
        // An agent is written without the type that it chose itself; others with a problem not at all.
        if (problem !== undefined && kind !== 'agent') continue;
        const fields = fieldsOf(kind, stored);
        found.push({ kind, name, fields });
        length += JSON.stringify(fields).length;
      }
      if (found.length > MAX_DEFINITIONS) throw tooMuch(`${MAX_DEFINITIONS} definitions`);
      if (length > MAX_SOURCE) throw tooMuch(`${MAX_SOURCE} characters`);
    }
  }
  return { found, left_out };
}

/** Whether a name refers to something in the export. */
function definedIn(found: readonly Found[]): Record<Target, Set<string>> {
  const names = { agent: new Set<string>(), profile: new Set<string>(), type: new Set<string>() };
  for (const { kind, name, fields } of found) {
    if (kind !== 'agent' && kind !== 'profile') continue;
    names[kind].add(name);
    if (typeof fields.type === 'string') names.type.add(fields.type);
  }
  return names;
}

function definitionOf({ kind, name, fields }: Found, names: Record<Target, Set<string>>): Definition {
  const defined: Defined = (path, one) => kinds[kind].references[path]!.some((target) => names[target].has(one));
  const body = new ValueWriter(kinds[kind], defined).definition(fields);
  return { ...body, kind: nameOf(kind), name: name === '' ? null : nameOf(name), base: null, body };
}

export async function exportTenant(call: Call, input: In<'dsl.export'>): Promise<Exported> {
  const { found, left_out } = await findAll(call, input.kind);
  const names = definedIn(found);
  const definitions = found.map((one) => definitionOf(one, names));
  const source = await runWithYields(
    formatDocument({ definitions, comments: [] }),
    cooperativeYield(call.options.signal),
  );
  if (source.length > MAX_SOURCE) throw tooMuch(`${MAX_SOURCE} characters`);
  return { source, definitions: definitions.length, left_out };
}
