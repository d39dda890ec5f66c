// The HTTP library alone: parses a packet, checks it by Cairn's own schema, and echoes it.
import Fastify from 'fastify';
import { packetInput } from '../../dist/facts/packets/model.js';

const app = Fastify();
app.post('/api/v1/memory/packet', async (request, reply) => {
  const parsed = packetInput.safeParse(request.body);
  return reply.code(parsed.success ? 201 : 400).send(parsed.data ?? parsed.error.issues);
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('SIGTERM', () => process.exit(0));
