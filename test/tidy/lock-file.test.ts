/** The lock file: complete for every platform, the same from every registry, and good for the oldest Node. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/run.js';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly libc?: readonly string[];
  readonly inBundle?: boolean;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
const locked = Object.entries(packages).filter(([path]) => path !== '');

/** The oldest Node that Cairn supports, from `engines`. */
const OLDEST = [20, 19, 0] as const;

/** Whether a range such as `>=18`, `^20.19.0 || >=22.12.0` or `>= 16 < 23` includes a version. */
function accepts(range: string, version: readonly number[]): boolean {
  const compare = (other: readonly number[]): number => {
    for (let i = 0; i < 3; i++) if (version[i] !== other[i]) return version[i]! - other[i]!;
    return 0;
  };
  return range.split('||').some((alternative) =>
    [...alternative.matchAll(/(>=|<=|>|<|\^|~|=)?\s*v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?/g)].every(
      ([, sign = '', major, minor, patch]) => {
        const order = compare([Number(major), Number(minor) || 0, Number(patch) || 0]);
        if (sign === '>=') return order >= 0;
        if (sign === '<=') return order <= 0;
        if (sign === '>') return order > 0;
        if (sign === '<') return order < 0;
        if (sign === '^') return order >= 0 && version[0] === Number(major);
        return version[0] === Number(major) && (minor === undefined || version[1] === Number(minor));
      },
    ),
  );
}

describe('PKG-1 the lock file', () => {
  it('PKG-1 has an entry for every optional dependency, so that `npm ci` takes it on every platform', () => {
    const missing = locked.flatMap(([path, { optionalDependencies = {}, inBundle }]) =>
      inBundle
        ? []
        : Object.keys(optionalDependencies).filter(
            (name) =>
              packages[`${path}/node_modules/${name}`] === undefined && packages[`node_modules/${name}`] === undefined,
          ),
    );
    expect(missing).toEqual([]);
  });

  it('PKG-1 names no registry, and npm 10 and 11 write it alike', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(text).not.toMatch(/https?:\/\/registry|\.tgz"/);
    // npm 10 drops `libc`, npm 11 does not add it to an entry that lacks it.
    expect(locked.filter(([, { libc }]) => libc !== undefined)).toEqual([]);
    expect(locked.filter(([, { integrity, inBundle }]) => !integrity && !inBundle)).toEqual([]);
  });

  it('PKG-2 locks no package that refuses the oldest supported Node', () => {
    const range = packages['']!.engines!.node!;
    expect(range).toBe(`>=${OLDEST[0]}.${OLDEST[1]}`);
    expect(accepts('>=22', OLDEST)).toBe(false);
    expect(accepts('^20.19.0 || >=22.12.0', OLDEST)).toBe(true);
    const refusing = locked.filter(([, { engines }]) => engines?.node && !accepts(engines.node, OLDEST));
    expect(refusing.map(([path, { engines }]) => `${path} ${engines!.node}`)).toEqual([]);
  });
});
