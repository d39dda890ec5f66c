/** Builds the inspector into dist/web. Its address is /ui/ of the server; the client comes from the build of the package. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Method and path of every operation, from the table: "copy as curl" needs no schemas. */
const operations: Plugin = {
  name: 'cairn-operations',
  resolveId: (id) => (id === 'virtual:operations' ? `\0${id}` : undefined),
  async load(id) {
    if (id !== '\0virtual:operations') return undefined;
    const { allOperations } = (await import(at('../dist/api/contract.js'))) as {
      allOperations: { name: string; method: string; path: string }[];
    };
    const table = Object.fromEntries(allOperations.map(({ name, method, path }) => [name, [method, path]]));
    return `export const operations = ${JSON.stringify(table)};`;
  },
};

/** A server to develop against: `npm run web` proxies its API. */
const server = process.env.CAIRN_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: at('.'),
  base: '/ui/',
  cacheDir: at('../.cache/vite'),
  plugins: [operations],
  resolve: { alias: { 'cairndb/client': at('../dist/client/index.js') } },
  build: {
    outDir: at('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // A strict Content-Security-Policy allows no data: URLs for scripts and styles.
    assetsInlineLimit: 0,
    license: { fileName: 'LICENSES.md' },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // Libraries mark what a server-side renderer must leave to the browser: of no meaning here.
      onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/api', '/projects', '/openapi.json', '/health', '/reference'].map((path) => [
        path,
        { target: server, ws: true, changeOrigin: true },
      ]),
    ),
  },
});
