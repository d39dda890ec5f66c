/** Lifetimes: the accepted forms of a TTL, and what a lifetime ends with. */
import { z } from 'zod';

/** A hundred years. */
const MAX_DURATION_MS = 3_153_600_000_000;

const TTL_FORMS = `must be Persistent, Permanent, Session, Scope, Ephemeral, ShortTerm, MediumTerm, LongTerm, Duration(ms) or {"Duration": ms}, with ms from 1 to ${MAX_DURATION_MS}`;

export const TTL_NAMES = 'Persistent Permanent Session Scope Ephemeral ShortTerm MediumTerm LongTerm'.split(' ');

const DURATION_TEXT = /^Duration\(([1-9]\d{0,12})\)$/i;

/** The canonical spelling of a name in any case. */
const spelledTtl = (text: string): string =>
  text.replace(DURATION_TEXT, 'Duration($1)').replace(/^[a-z]+$/i, (given) => {
    const known = TTL_NAMES.find((name) => name.toLowerCase() === given.toLowerCase());
    return known ?? given;
  });

export const ttl = z
  .union(
    [
      z
        .string()
        .regex(new RegExp(`^(?:${TTL_NAMES.join('|')}|Duration\\([1-9]\\d{0,12}\\))$`, 'i'), {
          message: TTL_FORMS,
          abort: true,
        })
        .overwrite(spelledTtl)
        .refine(
          (text) => !text.startsWith('Duration(') || Number(text.slice('Duration('.length, -1)) <= MAX_DURATION_MS,
          TTL_FORMS,
        ),
      z.strictObject({ Duration: z.int().min(1).max(MAX_DURATION_MS).describe('Milliseconds') }),
    ],
    TTL_FORMS,
  )
  .describe('Persistent, Session, Scope, ShortTerm (1 h), MediumTerm (24 h), LongTerm (7 days), or a Duration in ms');

export type Ttl = z.output<typeof ttl>;

/** What ends a lifetime: nothing, the trajectory, the scope, or a time. */
export const lifetimeClass = z.enum(['Persistent', 'Session', 'Scope', 'Duration']);

export type LifetimeClass = z.output<typeof lifetimeClass>;
