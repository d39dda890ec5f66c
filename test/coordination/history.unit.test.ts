/** The checker of histories finds what it is there to find: a checker that sees nothing would pass everything. */
import { describe, expect, it } from 'vitest';
import { type Call, type Final, faultsOf } from '../support/inspect/history.js';

const nothing: Final = { unacknowledged: [], turns: {} };
const iso = (ms: number) => new Date(ms).toISOString();
let n = 0;
const call = (op: string, args: object, at: number, back?: number, value?: object): Call =>
  ({
    process: 'p',
    op,
    args,
    at,
    ...(back === undefined ? {} : { back }),
    ...(value ? { value } : {}),
    n: n++,
  }) as Call;

const grant = (lock_id: string, token: number, at: number, back: number, until: number, mode = 'Exclusive') =>
  call('acquire', { resource_id: 'a' }, at, back, { lock_id, mode, fencing_token: token, expires_at: iso(until) });

describe('locks', () => {
  it('two at once', () => {
    const calls = [grant('x', 1, 1000, 1001, 1100), grant('y', 2, 1050, 1051, 1200)];
    expect(faultsOf(calls, nothing)).toEqual(['a: held by x and y at once']);
    const shared = [grant('x', 1, 1000, 1001, 1100, 'Shared'), grant('y', 2, 1050, 1051, 1200, 'Shared')];
    expect(faultsOf(shared, nothing)).toEqual([]);
  });

  it('no fault when the first was released or over', () => {
    const release = call('release', { lock_id: 'x' }, 1040, 1045, {});
    expect(faultsOf([grant('x', 1, 1000, 1001, 1100), release, grant('y', 2, 1050, 1051, 1200)], nothing)).toEqual([]);
    expect(faultsOf([grant('x', 1, 1000, 1001, 1040), grant('y', 2, 1050, 1051, 1200)], nothing)).toEqual([]);
  });

  it('a release that was granted although another had it', () => {
    const release = call('release', { lock_id: 'x' }, 1090, 1095, {});
    const calls = [grant('x', 1, 1000, 1001, 1040), grant('y', 2, 1050, 1051, 1200), release];
    expect(faultsOf(calls, nothing)).toEqual(['a: held by x and y at once']);
  });

  it('tokens that do not rise', () => {
    const calls = [grant('x', 2, 1000, 1001, 1040), grant('y', 1, 1050, 1051, 1200)];
    expect(faultsOf(calls, nothing)).toEqual(['a: token 1 came after 2']);
    expect(faultsOf([grant('x', 1, 1000, 1001, 1040), grant('y', 1, 1050, 1051, 1200)], nothing)).toContain(
      'a: token 1 was given twice',
    );
  });
});

describe('messages', () => {
  const sent = (id: string) => call('send', {}, 1, 2, { message_id: id });
  const ack = (id: string, back?: number) => call('acknowledge', { message_id: id }, 5, back, back ? {} : undefined);
  const got = (at: number, ...list: [string, number, number][]) =>
    call('receive', {}, at, at + 1, {
      messages: list.map(([message_id, seq, attempt]) => ({
        message_id,
        seq,
        from_agent_id: 's',
        priority: 'normal',
        delivery: { mailbox: 'agent:r', attempt },
      })),
    });

  it('lost, twice, or both', () => {
    expect(faultsOf([sent('m')], nothing)).toEqual(['message m was lost']);
    expect(faultsOf([sent('m')], { ...nothing, unacknowledged: ['m'] })).toEqual([]);
    expect(faultsOf([sent('m'), ack('m', 6)], nothing)).toEqual([]);
    expect(faultsOf([sent('m'), ack('m')], nothing)).toEqual([]);
    expect(faultsOf([sent('m'), ack('m', 6), ack('m', 7)], nothing)).toEqual(['message m was acknowledged 2 times']);
    expect(faultsOf([sent('m'), ack('m', 6)], { ...nothing, unacknowledged: ['m'] })).toHaveLength(1);
  });

  it('out of order', () => {
    expect(faultsOf([got(10, ['b', 2, 1]), got(20, ['a', 1, 1])], nothing)).toHaveLength(1);
    expect(faultsOf([got(10, ['a', 1, 1]), got(20, ['b', 2, 1])], nothing)).toEqual([]);
    // It had come before to one that did not live to tell.
    expect(faultsOf([got(10, ['b', 2, 1]), got(20, ['a', 1, 2])], nothing)).toEqual([]);
  });
});

describe('agent_turns', () => {
  const claim = (epoch: number, at: number) =>
    call('claim', {}, at, at + 1, { agent_turn: { agent_turn_id: 't', turn_epoch: epoch } });
  const step = (op: string, epoch: number, at: number, mark?: string) =>
    call(op, { agent_turn_id: 't', turn_epoch: epoch, mark }, at, at + 1, {});
  const at = (status: string, ...marks: string[]): Final => ({ ...nothing, turns: { t: { status, marks } } });

  it('claimed twice, ended twice, ended otherwise than answered', () => {
    expect(faultsOf([claim(1, 1), claim(1, 5)], at('running'))).toHaveLength(1);
    expect(faultsOf([claim(1, 1), step('complete', 1, 5)], at('completed'))).toEqual([]);
    expect(faultsOf([step('complete', 1, 5), step('fail', 2, 7)], at('completed'))).toHaveLength(1);
    expect(faultsOf([step('complete', 1, 5), step('fail', 1, 7)], at('completed'))).toHaveLength(1);
    expect(faultsOf([step('complete', 1, 5), step('complete', 2, 7)], at('completed'))).toHaveLength(1);
    const other = { ...step('complete', 1, 7), process: 'q' };
    expect(faultsOf([step('complete', 1, 5), other], at('completed'))).toHaveLength(1);
    expect(faultsOf([step('complete', 1, 5), step('complete', 1, 7)], at('completed'))).toEqual([]);
    expect(faultsOf([step('complete', 1, 5)], at('dispatched'))).toHaveLength(1);
  });

  it('a step of one who came too late, something lost, something that was refused', () => {
    expect(faultsOf([claim(1, 1), claim(2, 10), step('append', 1, 20, 'm')], at('running', 'm'))).toHaveLength(1);
    expect(faultsOf([step('append', 1, 5, 'm')], at('running'))).toEqual(['agent_turn t lost m']);
    expect(faultsOf([], at('running', 'm'))).toEqual(['agent_turn t has m, which was refused']);
    const maybe = call('append', { agent_turn_id: 't', mark: 'm' }, 5);
    expect(faultsOf([maybe], at('running', 'm'))).toEqual([]);
  });
});
