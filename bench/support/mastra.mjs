// Mastra's store on libsql, as it is to be measured: every connection of its pool as durable as Cairn's.
import { rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { peer } from './peers.mjs';

const RESOURCE = 'bench';
/** More than its client has connections. */
const ALL = 64;

/** Opens it on a new file; or the reason why it cannot be had. */
export async function openMastra(file) {
  const found = await peer('@mastra/libsql');
  if (typeof found === 'string') return found;
  const { LibSQLStore } = found.module;
  const store = new LibSQLStore({ id: 'bench', url: pathToFileURL(file).href });
  await store.init();
  const memory = await store.getStore('memory');
  return {
    version: found.version,
    pragmas: () => pragmasOf(store.client),
    durable: () => onEveryConnection(store.client, 'PRAGMA synchronous = FULL'),
    saveThread: (id) => {
      const now = new Date();
      return memory.saveThread({
        thread: { id, resourceId: RESOURCE, title: 'bench', createdAt: now, updatedAt: now, metadata: {} },
      });
    },
    /** Saves one message with this text. */
    save: (id, threadId, text) =>
      memory.saveMessages({
        messages: [
          {
            id,
            threadId,
            resourceId: RESOURCE,
            role: 'user',
            type: 'v2',
            createdAt: new Date(),
            content: { format: 2, parts: [{ type: 'text', text }] },
          },
        ],
      }),
    count: async () => Number((await store.client.execute('SELECT COUNT(*) AS n FROM mastra_messages')).rows[0].n),
    close: async () => {
      await store.close();
      for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
    },
  };
}

/**
 * Calls that start together get a connection each, as long as the pool has one, so this reaches all of them. Its client
 * has no other way to set up a connection.
 */
const onEveryConnection = (client, text) => Promise.all(Array.from({ length: ALL }, () => client.execute(text)));

/** What the connections have, read back: each value with how many of the calls met it. */
async function pragmasOf(client) {
  const read = {};
  for (const name of ['journal_mode', 'synchronous']) {
    const answers = await onEveryConnection(client, `PRAGMA ${name}`);
    const values = answers.map(({ rows }) => String(rows[0][name]));
    read[name] = [...new Set(values)]
      .map((value) => `${value} (${values.filter((v) => v === value).length})`)
      .join(', ');
  }
  return read;
}
