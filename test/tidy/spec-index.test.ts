/** SPEC.md, the index of the modules' specs, matches them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Where each rule is, by the modules' specs. */
function rulesByModule(): Map<string, string> {
  const found = new Map<string, string>();
  for (const module of readdirSync(join(root, 'src'))) {
    if (!existsSync(join(root, 'src', module, 'SPEC.md'))) continue;
    for (const [, id] of read(`src/${module}/SPEC.md`).matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)) found.set(id!, module);
  }
  return found;
}

/** Where a rule is by the index: a prefix has one module, and ids named behind it have others. */
function readIndex(text: string) {
  const prefixes = new Map<string, string>();
  const exceptions = new Map<string, string>();
  for (const [, prefix, spec] of text.matchAll(/^\| `([A-Z]+)` +\|[^|]+\| (.+?) +\|$/gm)) {
    const [first, ...others] = spec!.split('; ');
    prefixes.set(prefix!, linkIn(first!));
    for (const other of others)
      for (const [, id] of other.matchAll(/`([A-Z]+-\d+)`/g)) exceptions.set(id!, linkIn(other));
  }
  return { prefixes, exceptions };
}

const linkIn = (cell: string): string => /\]\(src\/([a-z]+)\/SPEC\.md\)$/.exec(cell)![1]!;

describe('the index of the specs', () => {
  const rules = rulesByModule();
  const { prefixes, exceptions } = readIndex(read('SPEC.md'));

  it('says where every rule is', () => {
    expect(rules.size).toBeGreaterThan(700);
    const located = [...rules.keys()].map(
      (id) => [id, exceptions.get(id) ?? prefixes.get(id.slice(0, id.indexOf('-')))] as const,
    );
    expect(located.filter(([id, module]) => rules.get(id) !== module)).toEqual([]);
  });

  it('names nothing that is not there', () => {
    const known = new Set([...rules.keys()].map((id) => id.slice(0, id.indexOf('-'))));
    expect([...prefixes.keys()].filter((prefix) => !known.has(prefix))).toEqual([]);
    expect([...exceptions.keys()].filter((id) => !rules.has(id))).toEqual([]);
  });
});
