/** Settings of the command from the environment. */
import { describe, expect, it } from 'vitest';
import { embedderOf } from '#cairn/cli/settings.js';

describe('the environment', () => {
  it('EMB-10 names an embedder, or none, and never half of one', async () => {
    expect(await embedderOf({})).toEqual({});
    expect(await embedderOf({ CAIRN_EMBEDDER_URL: '', CAIRN_EMBEDDER_MODEL: '' })).toEqual({});
    const whole = { CAIRN_EMBEDDER_URL: 'http://127.0.0.1:1/v1', CAIRN_EMBEDDER_MODEL: 'm' };
    expect((await embedderOf(whole)).embedder).toMatchObject({ name: 'm' });
    const { CAIRN_EMBEDDER_URL } = whole;
    await expect(embedderOf({ CAIRN_EMBEDDER_URL })).rejects.toThrow(/CAIRN_EMBEDDER_MODEL/);
    await expect(embedderOf({ CAIRN_EMBEDDER_MODEL: 'm' })).rejects.toThrow(/CAIRN_EMBEDDER_URL/);
  });
});
