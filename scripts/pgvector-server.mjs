// A PostgreSQL with pgvector, compiled to WebAssembly, behind a socket on loopback: no package has it natively. All
// connections share one session, so this is for statements, not for what happens between several who write.
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 50 });
server.addEventListener('listening', ({ detail }) => process.send({ port: detail.port }));
await server.start();
process.on('disconnect', () => process.exit());
