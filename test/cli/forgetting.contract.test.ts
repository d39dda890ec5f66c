/** `cairn forget`, `cairn erasures` and `cairn tenants`. */
import { expect, it } from 'vitest';
import { commandsOfOneProcess, inFolder } from '../support/run.js';

const cairn = commandsOfOneProcess();

it('CLI-10 forget lists, needs --yes without a terminal, and prints the receipt', () =>
  inFolder(async (cwd) => {
    await cairn(['remember', 'Anna prefers tea to coffee'], { cwd });
    const { stdout: recalled } = await cairn(['recall', 'Anna', '--json'], { cwd });
    const [{ id }] = (JSON.parse(recalled) as { passages: [{ id: string }] }).passages;
    const listed = await cairn(['forget', '--query', 'what does Anna drink', '--dry-run'], { cwd });
    expect(listed).toMatchObject({ code: 0, stdout: '' });
    const day = '\\d{4}-\\d\\d-\\d\\d';
    expect(listed.stderr).toMatch(new RegExp(`^note ${id} {2}${day} {2}0\\.\\d\\d {2}Anna prefers tea to coffee\n$`));
    const asked = await cairn(['forget', id], { cwd });
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('confirm it with --yes')]);
    expect(asked.stderr).toMatch(new RegExp(`^note ${id} {2}${day} {2}Anna prefers tea to coffee\n`));
    for (const yes of [['--yes'], []]) {
      const unclear = await cairn(['forget', '--query', 'Anna', ...yes], { cwd });
      expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringContaining('only finds candidates')]);
    }
    const { stdout: receipt, code } = await cairn(['forget', id, '--yes'], { cwd });
    expect([code, receipt]).toEqual([0, expect.stringMatching(/^forgot 1 note \(verified\)\n.*\nreceipt /)]);
    const erasure_id = receipt.trim().split(' ').at(-1)!;
    const verified = await cairn(['erasures', 'verify', erasure_id, '--bytes'], { cwd });
    expect(JSON.parse(verified.stdout)).toMatchObject({ verified: true, bytes: { found: 0 } });
    expect((await cairn(['recall', 'Anna', '--json'], { cwd })).stdout).not.toContain('tea');
  }));

it('CLI-10 forget shows the texts of the first 20 items, and how many more there are', () =>
  inFolder(async (cwd) => {
    for (let i = 0; i < 22; i++)
      await cairn(['remember', `Parcel ${i} of Alice\n${'is heavy '.repeat(60)}`, '--user', 'alice'], { cwd });
    const { stderr } = await cairn(['forget', '--user', 'alice', '--dry-run'], { cwd });
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    const texts = lines.slice(0, 20).filter((line) => line.startsWith('note '));
    expect(texts.length).toBeGreaterThanOrEqual(18);
    for (const line of texts) {
      expect(line).toMatch(/^note [\da-f-]{36} {2}\d{4}-\d\d-\d\d {2}Parcel \d+ of Alice is heavy .*…$/);
      expect(line.length).toBeLessThan(200);
    }
    expect(lines[20]).toMatch(/^… and [2-5] more$/);
  }));

it('CLI-11 a command that prints JSON anyway accepts --json', () =>
  inFolder(async (cwd) => {
    await cairn(['remember', 'Anna prefers tea to coffee'], { cwd });
    for (const words of [
      ['erasures', 'list'],
      ['notes', 'list'],
      ['settings', 'get'],
      ['stats', 'get'],
    ]) {
      const [plain, json] = [await cairn(words, { cwd }), await cairn([...words, '--json'], { cwd })];
      expect([json.code, json.stderr], words.join(' ')).toEqual([plain.code, plain.stderr]);
      if (plain.code === 0) expect(Object.keys(JSON.parse(json.stdout))).toEqual(Object.keys(JSON.parse(plain.stdout)));
    }
    expect((await cairn(['erasures', 'list', '--json'], { cwd })).code).toBe(0);
  }));

it('CLI-10 tenants are listed, and deleted with --yes', () =>
  inFolder(async (cwd) => {
    await cairn(['remember', 'It stays', '--tenant', 'acme'], { cwd });
    const listed = await cairn(['tenants', 'list'], { cwd });
    expect(listed.stdout).toMatch(/^acme {2}\d+ packets\ndefault {2}0 packets\n$/);
    const asked = await cairn(['tenants', 'delete', 'acme'], { cwd });
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('confirm it with --yes')]);
    const deleted = await cairn(['tenants', 'delete', 'acme', '--yes'], { cwd });
    expect([deleted.code, deleted.stdout]).toEqual([0, expect.stringMatching(/^deleted acme \(verified\)/)]);
    expect((await cairn(['tenants', 'list'], { cwd })).stdout).toBe('default  0 packets\n');
  }));
