/** The addresses of the inspector. Each view is a chunk of its own, loaded when it is first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { ErrorBox, Loading } from '../ui/states.js';
import { NotFound } from './not-found.js';
import { Shell } from './shell.js';

/** Everything that a view keeps in its address, as text. */
export type Search = Readonly<Record<string, string | undefined>>;

const rootRoute = createRootRoute({
  component: Shell,
  validateSearch: (search: Record<string, unknown>): Search =>
    Object.fromEntries(
      Object.entries(search).map(([name, value]) => [name, value === undefined ? value : String(value)]),
    ),
  notFoundComponent: NotFound,
});

// biome-ignore lint/suspicious/noExplicitAny: the component of any view.
type Load = () => Promise<{ readonly View: any }>;

const view = <const P extends string>(path: P, load: Load) =>
  createRoute({ getParentRoute: () => rootRoute, path, component: lazyRouteComponent(load, 'View') });

const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/contexts' });
    },
  }),
  view('/contexts', () => import('../views/contexts/contexts-view.js')),
  view('/contexts/$manifestId', () => import('../views/contexts/context-view.js')),
  view('/contexts/$manifestId/compare/$againstId', () => import('../views/contexts/comparison-view.js')),
  view('/memory', () => import('../views/memory/memory-view.js')),
  view('/memory/$kind/$id', () => import('../views/memory/entry-view.js')),
  view('/live', () => import('../views/live/live-view.js')),
  view('/trajectories', () => import('../views/trajectories/trajectories-view.js')),
  view('/trajectories/$trajectoryId', () => import('../views/trajectories/trajectory-view.js')),
  view('/scopes/$scopeId', () => import('../views/trajectories/scope-view.js')),
  view('/runs', () => import('../views/runs/runs-view.js')),
  view('/runs/$executionId', () => import('../views/runs/run-view.js')),
  view('/checkpoints/$checkpointId', () => import('../views/runs/checkpoint-view.js')),
  view('/lineage', () => import('../views/lineage/lineage-view.js')),
  view('/lineage/$kind/$id', () => import('../views/lineage/graph-view.js')),
  view('/coordination', () => import('../views/coordination/coordination-view.js')),
  view('/agents/$agentId', () => import('../views/coordination/agent-view.js')),
  view('/agent-turns/$agentTurnId', () => import('../views/coordination/agent-turn-view.js')),
  view('/boxes/$boxId', () => import('../views/store/box-view.js')),
  view('/store', () => import('../views/store/store-view.js')),
]);

/** Plain text, so that an address is short and `?entry=2` stays what it is. */
const parseSearch = (text: string): Record<string, unknown> => Object.fromEntries(new URLSearchParams(text));

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  basepath: '/ui',
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error }) => (
    <div className="page">
      <ErrorBox error={error} />
    </div>
  ),
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
