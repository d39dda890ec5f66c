/** What every answer of the server carries, whatever it says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpTest, startHttp } from '../support/http.js';

describe('the reference page', () => {
  let test: HttpTest;
  beforeAll(async () => {
    test = await startHttp('sqlite');
  });
  afterAll(() => test.close());

  const page = async (headers: Readonly<Record<string, string>>) =>
    (await test.send({ method: 'GET', path: '/', headers })).text;

  it('CLI-3 names the host and port at which it was asked for, and no other', async () => {
    for (const host of [`127.0.0.1:${test.port}`, 'localhost:9000', '[::1]:7', 'localhost']) {
      const bases = new Set((await page({ host })).match(/http:\/\/[^/\s]+(?=\/(?:api|projects))/g));
      expect([...bases]).toEqual([`http://${host}`]);
    }
    const behind = await page({ host: 'localhost', 'x-forwarded-proto': 'https' });
    expect(behind.includes('curl https://localhost/')).toBe(true);
  });

  it('CLI-3 takes nothing of a Host into the page that is no host', async () => {
    await test.key('default');
    for (const host of [
      '<script>x</script>',
      'evil"example',
      "e'; rm -rf ~; '",
      'e vil',
      'evil:http',
      '$(evil)',
    ]) {
      const text = await page({ host });
      expect(text.includes(host), host).toBe(false);
      expect(text.includes(`http://127.0.0.1:${test.port}/api/v1/`), host).toBe(true);
    }
  });
});
