/** Whatever is sent to an operation, the server answers in time, never with a failure of its own, and stays healthy. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isErrorCode } from '#cairn/model/errors.js';
import { requestsTo } from '../support/arbitrary.js';
import { allOperations, plant } from '../support/contract.js';
import { databases, type HttpTest, startHttp } from '../support/http.js';

const CASES = 120;
/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));

for (const database of databases()) {
  describe(`generated requests on ${database}, seed ${seed}`, () => {
    let test: HttpTest;

    beforeAll(async () => {
      console.log(`generated requests on ${database}: CAIRN_TEST_SEED=${seed}`);
      test = await startHttp(database);
    });
    afterAll(() => test.close());

    it.each(allOperations.map((operation, i) => [operation.name, operation, seed + i] as const))(
      `%s answers ${CASES} of them`,
      async (_, operation, seed) => {
        const tenant = `t-${operation.name}`;
        const planted = await plant(await test.admin(tenant));
        const { key } = await test.key(tenant);
        const statuses = new Set<number>();
        await fc.assert(
          fc.asyncProperty(requestsTo(operation, planted, tenant), async (sent) => {
            const reply = await test.send({
              ...sent,
              headers: { ...sent.headers, authorization: `Bearer ${key}` },
            });
            expect(reply.status, `${reply.text.slice(0, 500)}\n${test.log.at(-1)}`).toBeLessThan(500);
            statuses.add(reply.status);
            if (reply.status < 400) {
              if (operation.stream || reply.text === '') return;
              const answer = JSON.parse(reply.text) as unknown;
              expect(operation.output.parse(answer)).toEqual(answer);
              return;
            }
            const { code, message } = JSON.parse(reply.text) as { code: string; message: string };
            expect(isErrorCode(code), reply.text).toBe(true);
            expect(message.length).toBeGreaterThan(0);
          }),
          { numRuns: CASES, seed },
        );
        // Some fitted and some did not: neither side of the checks was left out.
        expect([...statuses].some((status) => status >= 400)).toBe(true);
        expect([...statuses].some((status) => status < 400)).toBe(true);
      },
    );

    it('leaves a healthy server and a sound store', async () => {
      const ready = await test.send({ method: 'GET', path: '/health/ready' });
      expect(ready.status).toBe(200);
      expect(test.log).toEqual([]);
      const admin = await test.admin('default');
      const { packet_id } = await admin.packets.write({ packet_type: 'after', payload: {} });
      expect(await admin.packets.get({ packet_id })).toMatchObject({ packet_type: 'after' });
    });
  });
}
