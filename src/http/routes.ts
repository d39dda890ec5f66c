/** The routes of the table of operations, and the methods of a path. */
import type { NamedOperation } from '../api/contract.js';
import { type Method, operationRoutes } from '../engine/contract.js';

export interface Route {
  readonly method: Method;
  /** In the syntax of the router: `/cards/:card_id`. */
  readonly url: string;
  readonly operation: NamedOperation;
}

export const routesOf = (operations: readonly NamedOperation[]): Route[] =>
  operations.flatMap((operation) =>
    operationRoutes(operation).map(({ method, path }) => ({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      // The method of the route decides whether input is in the query or in the body.
      operation: { ...operation, method },
    })),
  );

/** Finds the methods that routes and pages have at the path of a request. */
export function methodsAt(
  routes: readonly Pick<Route, 'method' | 'url'>[],
  pages: readonly string[],
): (path: string) => string[] {
  const patterns = new Map<string, { expression: RegExp; methods: Set<string> }>();
  for (const { method, url } of [...routes, ...pages.map((page) => ({ method: 'GET', url: page }))]) {
    const known = patterns.get(url) ?? {
      expression: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll('*', '.*').replace(/:\w+/g, '[^/]+')}$`),
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
