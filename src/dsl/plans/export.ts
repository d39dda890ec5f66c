/** Writes what a tenant has as a source. */
import type { In } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, cooperativeYield, runWithYields, withCommas } from '../../kernel/index.js';
import { KIND_NAMES, type KindName } from '../checks/kind-names.js';
import { kinds, type Target } from '../checks/kinds.js';
import { type Definition, MAX_DEFINITIONS, MAX_SOURCE, MAX_TOKENS, MAX_TOKENS_PER_DEFINITION } from '../syntax/ast.js';
import { formatDocument } from '../syntax/format.js';
import type { Exported, LeftOut } from './model.js';
import { allStored, fieldsOf, isExported } from './stored.js';
import { type Defined, nameOf, ValueWriter } from './written-values.js';

interface Found {
  readonly kind: KindName;
  readonly name: string;
  /** Under the names of the language. */
  readonly fields: JsonObject;
}

const TOO_LONG = `it would have more than ${withCommas(MAX_TOKENS_PER_DEFINITION)} tokens, the limit of a definition`;

const tooMuch = (what: string, kind: KindName | undefined): CairnError =>
  new CairnError(
    'STATE_CONFLICT',
    `the ${kind === undefined ? 'tenant' : `kind ${kind}`} has more than fits into a source, ${what}: ${
      kind === undefined ? 'export one `kind` at a time' : 'read it with the operations of its noun'
    }`,
  );

/** Fields under the names of the language; what an agent has by default is left out, but for its rights. */
function shortened(kind: KindName, name: string, fields: JsonObject): JsonObject {
  const short = new Map(Object.entries(kinds[kind].renamed).map(([one, member]) => [member, one]));
  const named = Object.entries(fields).map(([member, value]) => [short.get(member) ?? member, value] as const);
  const isDefault = (field: string, value: unknown): boolean =>
    kind === 'agent' &&
    ((field === 'offline_after' && value === 60_000) ||
      (field === 'metadata' && Object.keys(value as object).length === 0) ||
      (field === 'type' && value === name));
  return Object.fromEntries(named.filter(([field, value]) => !isDefault(field, value)));
}

/** What the tenant has, in the order of kinds and names. Stops once it exceeds a source. */
async function findAll(call: Call, chosen: KindName | undefined): Promise<{ found: Found[]; left_out: LeftOut[] }> {
  const query = call.driver.at(call.tenant);
  const maybeYield = cooperativeYield(call.options.signal);
  const found: Found[] = [];
  const left_out: LeftOut[] = [];
  let length = 0;
  for (const kind of chosen === undefined ? KIND_NAMES : [chosen]) {
    for await (const page of allStored(query, kind)) {
      for (const stored of page) {
        await maybeYield();
        const { name, problem } = stored;
        if (problem !== undefined) left_out.push({ kind, name, reason: problem });
        if (!isExported(stored)) continue;
        const fields = shortened(kind, name, await fieldsOf(query, stored));
        found.push({ kind, name, fields });
        length += JSON.stringify(fields).length;
        if (found.length > MAX_DEFINITIONS) throw tooMuch(`${MAX_DEFINITIONS} definitions`, chosen);
        if (length > MAX_SOURCE) throw tooMuch(`${MAX_SOURCE} characters`, chosen);
      }
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

/** The definitions as texts, each in its canonical form. */
async function textsOf(call: Call, found: readonly Found[]): Promise<string[]> {
  const names = definedIn(found);
  const texts: string[] = [];
  for (const one of found) {
    const document = { definitions: [definitionOf(one, names)], comments: [] };
    texts.push(await runWithYields(formatDocument(document), cooperativeYield(call.options.signal)));
  }
  return texts;
}

/** No token is shorter than a character. */
async function hasMoreTokens(call: Call, text: string, limit: number): Promise<boolean> {
  if (text.length <= limit) return false;
  // On demand: the parser takes long to load.
  const { lex } = await import('../syntax/lexer.js');
  const { tokens, exceeded } = await runWithYields(lex(text, 1), cooperativeYield(call.options.signal));
  return tokens.length > limit || exceeded !== undefined;
}

/** A blank source would be refused by every operation that takes one. */
const nothing = (kind: KindName | undefined): string =>
  `// no definitions${kind === undefined ? '' : ` of the kind ${kind}`}\n`;

export async function exportTenant(call: Call, input: In<'dsl.export'>): Promise<Exported> {
  const { found, left_out } = await findAll(call, input.kind);
  const kept: Found[] = [];
  for (const [i, text] of (await textsOf(call, found)).entries()) {
    const { kind, name } = found[i]!;
    if (await hasMoreTokens(call, text, MAX_TOKENS_PER_DEFINITION)) left_out.push({ kind, name, reason: TOO_LONG });
    else kept.push(found[i]!);
  }
  // Without those that are left out, names that referred to them are written as texts.
  const source = (await textsOf(call, kept)).join('\n') || nothing(input.kind);
  if (source.length > MAX_SOURCE) throw tooMuch(`${MAX_SOURCE} characters`, input.kind);
  if (await hasMoreTokens(call, source, MAX_TOKENS)) throw tooMuch(`${withCommas(MAX_TOKENS)} tokens`, input.kind);
  return { source, definitions: kept.length, left_out };
}
