// A server in this process and a client of it, whose bytes on the wire are counted: both ways, headers included.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { connectCairn } from '#cairn/client/index.js';
import { createServer } from '#cairn/http/index.js';

const sockets = [];

/** Bytes that clients sent and received so far. */
export const wireBytes = () => sockets.reduce((sum, socket) => sum + socket.bytesRead + socket.bytesWritten, 0);

/** One connection, kept open. A `fetch` of ours: that of Node has timers, and headers that differ between its versions. */
function countingFetch(agent) {
  return async (url, { method = 'GET', headers = {}, body } = {}) => {
    const sent = request(url, { agent, method, headers: Object.fromEntries(new Headers(headers)) });
    const answer = new Promise((resolve, reject) => sent.on('response', resolve).on('error', reject));
    sent.end(body);
    const response = await answer;
    const chunks = [];
    for await (const chunk of response) chunks.push(chunk);
    const status = response.statusCode;
    const content = status === 204 ? null : Buffer.concat(chunks);
    return new Response(content, { status, headers: { 'content-type': response.headers['content-type'] ?? '' } });
  };
}

/** Serves a store, and gives a client and a `fetch` of it. */
export async function serve(store) {
  const server = createServer(store, { version: 'counts' });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = (options) => {
    const socket = connect(options);
    sockets.push(socket);
    return socket;
  };
  const fetch = countingFetch(agent);
  const url = `http://127.0.0.1:${port}`;
  const client = connectCairn({ url, fetch });
  return {
    url,
    port,
    fetch,
    client,
    close: async () => {
      await client.close();
      agent.destroy();
      await server.close();
    },
  };
}
