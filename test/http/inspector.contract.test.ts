/** The files of the inspector: what the server sends, and what a browser may do with it. The journeys are in test/web. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpTest, startHttp } from '../support/http.js';
import { ROOT } from '../support/run.js';

const index = readFileSync(join(ROOT, 'dist/web/index.html'), 'utf8');
const [script] = /\/ui\/assets\/index-[\w-]+\.js/.exec(index)!;

describe('the inspector', () => {
  let test: HttpTest;
  beforeAll(async () => {
    test = await startHttp('sqlite');
  });
  afterAll(() => test.close());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    test.send({ method: 'GET', path, headers });

  it('UI-1 is where / leads, and every address below /ui/ that is no file is the page', async () => {
    for (const path of ['/', '/ui']) {
      const reply = await get(path);
      expect([reply.status, reply.headers.location]).toEqual([302, '/ui/']);
    }
    for (const path of ['/ui/', '/ui/contexts', '/ui/memory/note/0199d3e0-0000-7000-8000-000000000001', '/ui/a/b/c'])
      expect(await get(path)).toMatchObject({ status: 200, text: index });
  });

  it('UI-1 answers 404 for a file of another build', async () => {
    const reply = await get('/ui/assets/index-00000000.js');
    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    for (const path of ['/ui/../package.json', '/ui/%2e%2e/package.json', '/ui/assets/..%2f..%2fpackage.json'])
      expect((await get(path)).text).not.toContain('"cairndb"');
  });

  it('UI-2 runs its own scripts alone, in no frame, and asks no other host', async () => {
    const { headers } = await get('/ui/');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(index).not.toMatch(/https?:\/\//);
    expect(index).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  });

  it('UI-3 keeps files that are named by their content for ever, and asks for the page each time', async () => {
    expect((await get('/ui/')).headers['cache-control']).toBe('no-cache');
    const reply = await get(script);
    expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(reply.headers['content-type']).toMatch(/^text\/javascript/);
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  });

  it('UI-3 sends files as the build compressed them', async () => {
    const packed = await fetch(`http://127.0.0.1:${test.port}${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(packed.headers.get('content-encoding')).toBe('br');
    expect(packed.headers.get('vary')).toBe('accept-encoding');
    const plain = await get(script, { 'accept-encoding': 'identity' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(await packed.text()).toBe(plain.text);
  });

  it('UI-4 loads less than 300 KB of compressed JavaScript first', () => {
    const first = [...index.matchAll(/\/ui\/(assets\/[\w.-]+\.js)/g)].map(([, file]) => file!);
    const sizes = first.map((file) => statSync(join(ROOT, 'dist/web', `${file}.br`)).size);
    expect(first.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
  });
});
