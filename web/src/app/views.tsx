/** The views, in the order of the navigation. */
import {
  Activity,
  Boxes,
  Database,
  GitBranch,
  Layers,
  type LucideIcon,
  Network,
  NotebookText,
  Route,
} from 'lucide-react';

interface NavEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Pressed after g. */
  readonly key: string;
  /** Other first parts of addresses that belong to it. */
  readonly also?: readonly string[];
}

export const navigation: readonly NavEntry[] = [
  { path: '/contexts', label: 'Contexts', icon: NotebookText, key: 'c' },
  { path: '/memory', label: 'Memory', icon: Layers, key: 'm' },
  { path: '/live', label: 'Live', icon: Activity, key: 'l' },
  { path: '/trajectories', label: 'Tasks', icon: Route, key: 't', also: ['/scopes'] },
  { path: '/runs', label: 'Runs', icon: GitBranch, key: 'r', also: ['/checkpoints'] },
  { path: '/lineage', label: 'Lineage', icon: Network, key: 'i' },
  { path: '/coordination', label: 'Agents', icon: Boxes, key: 'a', also: ['/agents', '/agent-turns'] },
  { path: '/store', label: 'Store', icon: Database, key: 's', also: ['/boxes'] },
];
