/** Names of what manifests refer to by id. */
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';

const tail = (id: string): string => `…${id.slice(-8)}`;

/** The name of a task; the end of its id until it is known. */
export function TaskName({ id }: { id: string }): ReactNode {
  const { data } = useCall('trajectories.get', { trajectory_id: id });
  return data?.name ?? tail(id);
}

export function ScopeName({ id }: { id: string }): ReactNode {
  const { data } = useCall('scopes.get', { scope_id: id });
  return data?.name ?? tail(id);
}
