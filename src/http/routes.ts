/** The routes that a table of operations makes, and which methods a path takes. */
import type { NamedOperation } from '../api/contract.js';
import { type Method, waysTo } from '../engine/contract.js';

export interface Route {
  readonly method: Method;
  /** As the router writes it: `/cards/:card_id`. */
  readonly url: string;
  readonly operation: NamedOperation;
}

/** One route for every path of every operation. */
export const routesOf = (operations: readonly NamedOperation[]): Route[] =>
  operations.flatMap((operation) =>
    waysTo(operation).map(({ method, path }) => ({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      // Where its input travels follows from the method by which it is reached.
      operation: { ...operation, method },
    })),
  );

/** Of a path as it was asked for, the methods that some route or page has there. */
export function methodsAt(
  routes: readonly Pick<Route, 'method' | 'url'>[],
  pages: readonly string[],
): (path: string) => string[] {
  const patterns = new Map<string, { expression: RegExp; methods: Set<string> }>();
  for (const { method, url } of [...routes, ...pages.map((page) => ({ method: 'GET', url: page }))]) {
    const known = patterns.get(url) ?? {
      expression: new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
      methods: new Set(),
    };
    known.methods.add(method);
    patterns.set(url, known);
  }
  return (path) => {
    const found = [...patterns.values()].filter(({ expression }) => expression.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))];
  };
}
