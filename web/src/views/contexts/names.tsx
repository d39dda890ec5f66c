/** Names of what manifests refer to by id; the end of the id until they are known. */
import type { ReactNode } from 'react';
import { useName } from '../../data/names.js';

const tail = (id: string): string => `…${id.slice(-8)}`;

export const TaskName = ({ id }: { id: string }): ReactNode => useName('Trajectory', id) ?? tail(id);

export const ScopeName = ({ id }: { id: string }): ReactNode => useName('Scope', id) ?? tail(id);
