// A load generator: node load.mjs <port> <path> <connections> <seconds> prints the requests per second that were
// answered with 201. It speaks HTTP on plain sockets, so that it costs less than the server that it measures.
import { connect } from 'node:net';
import { packetBodies } from './work.mjs';

const [port, path, connections, seconds] = process.argv.slice(2);
const BODIES = 500;
const newBody = packetBodies(10);
const requests = Array.from({ length: BODIES }, () => {
  const body = JSON.stringify(newBody());
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
});

let next = 0;
let answered = 0;

function fail(why) {
  console.error(`load: ${why}`);
  process.exit(1);
}

/** Sends the next request as soon as the answer to the last is whole. */
function open() {
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  let text = '';
  const send = () => socket.write(requests[next++ % BODIES]);
  socket.setEncoding('latin1');
  socket.on('connect', send);
  socket.on('error', (error) => fail(error.message));
  socket.on('data', (chunk) => {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (length === undefined) fail('an answer without a length');
    if (text.length < end + 4 + Number(length)) return;
    if (!text.startsWith('HTTP/1.1 201')) fail(text);
    text = '';
    answered++;
    send();
  });
}

for (let i = 0; i < Number(connections); i++) open();
// The first moments, in which connections are made, do not count.
await new Promise((resolve) => setTimeout(resolve, 300));
const [before, start] = [answered, performance.now()];
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
console.log(((answered - before) / (performance.now() - start)) * 1000);
process.exit(0);
