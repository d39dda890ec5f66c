/** How many tokens of a window each section may take: what it is promised, then its share, then what nobody else wants. */
import type { ContextReason, SectionName } from '../contexts/model.js';
import type { Section } from './sections.js';

const shareOf = ({ share }: Section, budget: number): number => Math.floor(share * budget);

/** More it never gets, however much is left: without a share that was asked for there is no such limit. */
export const mostOf = (section: Section, budget: number): number =>
  section.firm ? Math.max(shareOf(section, budget), section.min_tokens) : Infinity;

const LIMITS: readonly ((section: Section, budget: number) => number)[] = [
  ({ min_tokens }) => min_tokens,
  shareOf,
  mostOf,
];

/** Sections are asked in their order, three times: no section gets more than it wants, which leaves the rest to others. */
export function roomsFor(
  sections: readonly Section[],
  wanted: ReadonlyMap<SectionName, number>,
  budget: number,
  room: number,
): Map<SectionName, number> {
  const rooms = new Map<SectionName, number>();
  let left = Math.max(0, room);
  for (const limit of LIMITS) {
    for (const section of sections) {
      const has = rooms.get(section.name) ?? 0;
      const upTo = Math.min(wanted.get(section.name) ?? 0, limit(section, budget));
      const more = Math.min(left, Math.max(0, upTo - has));
      rooms.set(section.name, has + more);
      left -= more;
    }
  }
  return rooms;
}

/** Why something of a section is out that had so much room. Beyond its share it had all that was left. */
export const reasonAt = (section: Section, budget: number, room: number): ContextReason => {
  const limit = section.firm ? mostOf(section, budget) : shareOf(section, budget);
  return room === limit ? 'share_used_up' : 'no_room';
};
