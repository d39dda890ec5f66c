/** Changes that end content, which is erased after the commit. */
import type { Query } from '../driver/index.js';
import { type Call, type Change, change, startErasure, type Work } from '../engine/index.js';

interface ErasingChange<O> extends Pick<Change<O>, 'input'> {
  readonly bytes?: number | undefined;
  /** Returns the holders whose content ended. */
  readonly work: (work: Work) => Promise<readonly string[]>;
  /** Reads the answer, also when the request is repeated. */
  readonly read: (query: Query) => Promise<O>;
}

export async function changeAndErase<O>(call: Call, { input, bytes = 0, work, read }: ErasingChange<O>): Promise<O> {
  const { answer, ended } = await change<{ answer: O; ended: readonly string[] }>(call, {
    input,
    bytes,
    work: async (own) => {
      const holders = await work(own);
      return { answer: await read(own.tx), ended: holders };
    },
    remember: () => null,
    again: async (tx) => ({ answer: await read(tx), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return answer;
}
