/** The conformance suite that LangGraph has for checkpointers, every case of it, on both databases. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CairnSaver } from '#cairn/adapters/langgraph/index.js';
import { openTarget, type TestStore, targetNames } from '../support/targets.js';

// It expects these as globals, as vitest has them when asked to. Cases that it leaves out are told here.
const skipped: string[] = [];
const counted = new Proxy(it, {
  get: (target, name) =>
    name === 'skip' ? (title: string) => skipped.push(title) : (Reflect.get(target, name) as unknown),
});
Object.assign(globalThis, { describe, it: counted, expect, beforeAll, beforeEach, afterAll, afterEach });
const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation');

for (const target of targetNames().filter((name) => name !== 'http'))
  describe(`on ${target}`, () => {
    let opened: TestStore;
    const initializer = {
      checkpointerName: 'cairndb',
      beforeAll: async () => {
        opened = await openTarget(target);
      },
      afterAll: () => opened.close(),
      // Each suite begins with a checkpointer that knows nothing.
      createCheckpointer: async () => new CairnSaver(await opened.freshTenant()),
    };
    validate(initializer);
    deltaChannelHistoryTests(initializer);
  });

it('leaves out no case', () => {
  expect(skipped).toEqual([]);
});
