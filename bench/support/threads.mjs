// A LangGraph thread to which every step adds one message: its states, as a reducer of lists makes them.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { uuid6 } from '@langchain/langgraph-checkpoint';
import { prose, seeded } from './seeded.mjs';

export const STEPS = 1000;

const plain = (i, content) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content });
const ofLangChain = (i, content) =>
  i % 2 === 0 ? new HumanMessage({ content, id: `m-${i}` }) : new AIMessage({ content, id: `m-${i}` });

/** Messages of so many bytes of text each. */
export const plainMessages = (seed, bytes) => messages(seed, bytes, plain);

/** The same texts, as LangChain's own messages. */
export const langchainMessages = (seed, bytes) => messages(seed, bytes, ofLangChain);

function messages(seed, bytes, make) {
  const next = seeded(seed);
  return Array.from({ length: STEPS }, (_, i) => make(i, prose(next, bytes + 20).slice(0, bytes)));
}

/** What is put at a step that ends with these messages. Of two, the one that was made later has the later id. */
export function stateOf(messages) {
  const step = messages.length - 1;
  const versions = { messages: step + 1, step: step + 1 };
  return {
    checkpoint: {
      v: 4,
      id: uuid6(step),
      ts: new Date().toISOString(),
      channel_values: { messages, step },
      channel_versions: versions,
      versions_seen: { __input__: {}, agent: { messages: step } },
    },
    metadata: { source: 'loop', step, parents: {} },
    versions,
  };
}

/** A thread: at each step a new list of the same messages and one more. */
export const statesOf = (messages) => messages.map((_, i) => stateOf(messages.slice(0, i + 1)));

/** Puts a state after the one that the config names; gives the config of the new one. */
export const put = (saver, config, { checkpoint, metadata, versions }) =>
  saver.put(config, checkpoint, metadata, versions);

/** Where a thread begins. */
export const beginning = (thread_id) => ({ configurable: { thread_id, checkpoint_ns: '' } });

/** The checkpoint of a state, by name. */
export const configOf = (thread_id, { checkpoint }) => ({
  configurable: { thread_id, checkpoint_ns: '', checkpoint_id: checkpoint.id },
});

/** What a loaded checkpoint says, in a form that does not depend on who loaded it. */
export function loadedText(tuple) {
  const { id, channel_values } = tuple.checkpoint;
  return JSON.stringify([id, channel_values], sorted);
}

const sorted = (_, value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
