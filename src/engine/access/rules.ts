/** The rules of memory_access: how much of a type of memory an agent may read or write. */

import { type MemoryAccess, type MemoryScope, type MemoryType, memoryType } from './model.js';
import type { UserReach } from './subjects.js';

/** The width of a rule; each includes the ones before it. */
export type Extent = 'none' | MemoryScope;

const EXTENTS: readonly Extent[] = ['none', 'own', 'own_trajectory', 'all'];
const widthOf = (extent: Extent): number => EXTENTS.indexOf(extent);

export const widest = (extents: readonly Extent[]): Extent => EXTENTS[Math.max(0, ...extents.map(widthOf))]!;

export const narrowest = (extents: readonly Extent[]): Extent =>
  EXTENTS[Math.min(EXTENTS.length - 1, ...extents.map(widthOf))]!;

/** No list allows everything, an empty list nothing; of several rules for a type the widest counts. */
export function extentOf(
  access: MemoryAccess | null,
  memory_type: Exclude<MemoryType, '*'>,
  need: 'read' | 'write',
): Extent {
  const rules = access?.[need];
  if (rules === undefined) return 'all';
  return widest(
    rules.filter((rule) => rule.memory_type === '*' || rule.memory_type === memory_type).map(({ scope }) => scope),
  );
}

/** Whether a memory_access restricts nothing. */
export const isUnrestricted = (access: MemoryAccess): boolean =>
  (['read', 'write'] as const).every((need) => TYPES.every((type) => extentOf(access, type, need) === 'all'));

const TYPES = memoryType.options.filter((type) => type !== '*');

/** The intersection: an agent gives another agent no more rights than it has. */
export function commonAccess(one: MemoryAccess | null, other: MemoryAccess | null): MemoryAccess | null {
  if (one === null || other === null) return one ?? other;
  const common = (need: 'read' | 'write') => {
    if (one[need] === undefined || other[need] === undefined) return one[need] ?? other[need];
    return TYPES.flatMap((memory_type) => {
      const scope = narrowest([one, other].map((access) => extentOf(access, memory_type, need)));
      return scope === 'none' ? [] : [{ memory_type, scope }];
    });
  };
  const [read, write] = [common('read'), common('write')];
  return { ...(read && { read }), ...(write && { write }) };
}

/** Cards that hold the content of a turn, artifact or note are no more accessible than those. */
interface CardExtents {
  readonly loose: Extent;
  readonly held: Extent;
}

export function cardExtents(access: MemoryAccess | null, need: 'read' | 'write'): CardExtents {
  const loose = extentOf(access, 'Card', need);
  const others = (['Turn', 'Artifact', 'Note'] as const).map((type) => extentOf(access, type, need));
  return { loose, held: narrowest([loose, ...others]) };
}

/** A card belongs to its author; no trajectory gives others access to it. */
export function reachesCard(
  { loose, held }: CardExtents,
  agent_id: string | null,
  card: { readonly author_id: string | null; readonly held_by: string | null },
): boolean {
  const extent = card.held_by === null ? loose : held;
  return extent === 'all' || (extent !== 'none' && card.author_id === agent_id);
}

export interface CardReach extends CardExtents {
  readonly agent_id: string | null;
  readonly user?: UserReach | undefined;
}

/** The agent or user of a call, if that restricts what it reaches. */
export interface ActingAgent {
  readonly agent_id: string | null;
  /** The subjects to which a call is restricted: those of its user, or of the content that Cairn works on. */
  readonly about?: { readonly subjects: string | null } | undefined;
  readonly current_trajectory_id: string | null;
  readonly memory_access: MemoryAccess;
}
