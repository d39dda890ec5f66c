/** The kinds of tests, and their titles. */
import type { Tree } from './tree.js';

/** The kind is the word before `.test.ts`; a test without one is a conformance suite. */
export const KINDS = ['unit', 'property', 'contract', 'fault'];

export const isTest = (path: string): boolean => path.endsWith('.test.ts');
export const isTidy = (path: string): boolean => path.startsWith('test/tidy/');

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export const isConformance = (path: string): boolean => !isTidy(path) && /^[^.]+\.test\.ts$/.test(nameOf(path));

export const conformanceSuites = (tree: Tree): Tree => new Map([...tree].filter(([path]) => isConformance(path)));

/** Names that are none of the known forms: `x.test.ts`, `x.<kind>.test.ts`. */
export const misnamedTests = (tree: Tree): string[] =>
  [...tree.keys()]
    .filter((path) => isTest(path) || /[.-](?:test|spec)\.ts$/.test(path))
    .filter((path) => {
      const [, kind, ...rest] = nameOf(path).split('.').slice(0, -1);
      if (isTidy(path)) return kind !== 'test' || rest.length > 0;
      return kind === 'test' ? rest.length > 0 : !KINDS.includes(kind ?? '') || rest.join('.') !== 'test';
    });

/** A title stands behind `it(`, `it.each(cases)(`, or the end of a table written in place: `])(`. */
const TITLE = /(?:\b(?:it|test)(?:\.\w+(?:\([^)]*\))?)*|\]\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;

/** Of all tests but those of the repository itself. */
export const titlesOf = (tree: Tree): string[] =>
  [...tree]
    .filter(([path]) => isTest(path) && !isTidy(path))
    .flatMap(([, text]) => [...text.matchAll(TITLE)].map((match) => match[2]!));
