/** A link to an entity by its name, which is looked up. */
import type { ReactNode } from 'react';
import { useName } from '../data/names.js';
import { Entity } from './text.js';

export function Named({ type, id }: { type: string; id: string }): ReactNode {
  return (
    <Entity type={type} id={id}>
      {useName(type, id)}
    </Entity>
  );
}
