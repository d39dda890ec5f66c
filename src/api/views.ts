/** Views of an Api: the shorthands, and the same Api for one user. */
import { CairnError } from '../kernel/index.js';
import type { Api, ApiByName, CallOptions } from './api.js';
import { allOperations } from './operations.js';
import { type Shorthands, shorthandsOn } from './shorthands.js';

/** An Api with the shorthands `remember`, `recall` and `forget`. */
export interface CairnView extends Api, Shorthands {
  /**
   * The same Api for one user: it reads what is about this user or about nobody, and what it writes is about this user.
   *
   * @example
   * const anna = cairn.for({ user: 'anna' });
   * await anna.remember('I prefer green tea.');
   */
  for(whom: { readonly user: string }): CairnView;
}

export const viewsOn = (api: Api, of?: string): CairnView => ({
  ...api,
  ...shorthandsOn(api),
  for({ user }) {
    if (of !== undefined && user !== of) throw otherUser(of, user);
    return viewsOn(of === undefined ? forUser(api, user) : api, user);
  },
});

const otherUser = (of: string, named: string): CairnError =>
  new CairnError('FORBIDDEN', `this view acts for user ${of}, not for user ${named}`, { rule: 'user', user_id: of });

/** A stream reports errors to its reader. */
const refusedStream = (refusal: CairnError): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal) }),
});

/** Gives all calls the option `user`; a call that names another user is refused. */
function forUser(api: Api, user: string): Api {
  const all = api as unknown as ApiByName;
  const view: Record<string, Record<string, unknown>> = {};
  for (const { group, verb, stream } of allOperations)
    (view[group] ??= {})[verb] = (input?: unknown, options?: CallOptions) => {
      if (options?.user === undefined || options.user === user) return all[group]![verb]!(input, { ...options, user });
      const refusal = otherUser(user, options.user);
      return stream ? refusedStream(refusal) : Promise.reject(refusal);
    };
  return view as unknown as Api;
}
