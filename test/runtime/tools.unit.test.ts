/** The tool calls of a run: from started to ended. */
import { describe, expect, it, vi } from 'vitest';
import { ToolState } from '#cairn/runtime/index.js';

describe('a tool call', () => {
  it('RUN-8 is pending, then completed under the same id', () => {
    vi.useFakeTimers({ now: 1000 });
    try {
      const tools = new ToolState();
      const args = { cmd: ['ls'] };
      const id = tools.start('shell', { arguments: args });
      args.cmd.push('-l');
      expect(tools.toJSON()).toEqual({ pending: [id], completed: [] });
      vi.advanceTimersByTime(250);
      const call = tools.finish(id, { result: 'a.txt' });
      expect(call).toEqual({
        id,
        tool_id: 'shell',
        arguments: { cmd: ['ls'] },
        result: 'a.txt',
        success: true,
        duration_ms: 250,
        timestamp: 1250,
      });
      expect(tools.toJSON()).toEqual({ last_tool_call_id: id, pending: [], completed: [call] });
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes what it is told over what it knows', () => {
    const tools = new ToolState();
    const id = tools.start('shell', { id: 'call-1', arguments: { a: 1 } });
    expect(id).toBe('call-1');
    const told = { tool_id: 'bash', arguments: { b: 2 }, result: [1], success: false, duration_ms: 3, timestamp: 4 };
    expect(tools.finish(id, told)).toEqual({ id, ...told });
  });

  it('RUN-8 fails with what was thrown', () => {
    const tools = new ToolState();
    const fail = (error: unknown) => tools.fail(tools.start('shell'), error);
    expect(fail(new Error('no such file'))).toMatchObject({ success: false, result: { error: 'no such file' } });
    expect(fail(new Error('a\0b\ud800'))).toMatchObject({ result: { error: 'a\ufffdb\ufffd' } });
    expect(fail({ code: 2 })).toMatchObject({ success: false, result: { code: 2 } });
    expect(fail(undefined)).toMatchObject({ success: false, result: null });
    expect(tools.pending).toEqual([]);
    expect(tools.last_tool_call_id).toBe(tools.completed.at(-1)?.id);
  });

  it('RUN-8 is taken back', () => {
    const tools = new ToolState();
    const [first, second] = [tools.start('shell'), tools.start('search')];
    tools.cancel(first);
    expect(tools.toJSON()).toEqual({ pending: [second], completed: [] });
    expect(() => tools.cancel(first)).toThrow(`no call "${first}" is pending: start it first`);
  });

  it('RUN-8 that was started before a restore needs the name of its tool', () => {
    const before = new ToolState();
    const id = before.start('shell', { arguments: { cmd: 'ls' } });
    const tools = ToolState.fromJSON(before.toJSON());
    expect(() => tools.finish(id)).toThrow(`tools.finish: tool_id is required, since "${id}" was started before`);
    expect(tools.pending).toEqual([id]);
    expect(tools.finish(id, { tool_id: 'shell' })).toMatchObject({ id, arguments: {}, duration_ms: 0 });
  });

  it.each([
    ['a tool without a name', (t: ToolState) => t.start(''), /^tools\.start: tool_id: /],
    ['an id that is pending', (t: ToolState) => t.start('x', { id: 'p' }), 'the id "p" already exists'],
    ['an id that was used', (t: ToolState) => t.start('x', { id: 'c' }), 'the id "c" already exists'],
    ['to end twice', (t: ToolState) => t.finish('c'), 'no call "c" is pending: it has already ended'],
    ['to end what was not started', (t: ToolState) => t.fail('n', 'x'), 'tools.fail: no call "n" is pending'],
    ['a negative time', (t: ToolState) => t.finish('p', { duration_ms: -1 }), /^tools\.finish: duration_ms: /],
    ['arguments in a list', (t: ToolState) => t.finish('p', { arguments: [] as never }), /arguments: .*object/],
    ['a result that is not JSON', (t: ToolState) => t.finish('p', { result: (() => 1) as never }), /result: /],
  ])('refuses %s, and changes nothing', (_, act, message) => {
    const tools = new ToolState();
    tools.finish(tools.start('x', { id: 'c' }));
    tools.start('x', { id: 'p' });
    const before = tools.toJSON();
    expect(() => act(tools)).toThrow(message);
    expect(tools.toJSON()).toBe(before);
  });
});

describe('as JSON', () => {
  const call = { tool_id: 'shell', arguments: {}, result: null, success: true, duration_ms: 1, timestamp: 2 };

  it('takes calls without ids, and gives them back without', () => {
    const json = { pending: ['p', 'p'], completed: [call, call, { ...call, id: 'a' }], last_tool_call_id: 'old' };
    expect(ToolState.fromJSON(json).toJSON()).toEqual(json);
  });

  it('refuses an id of two calls', () => {
    const twice = [call, call].map((one) => ({ ...one, id: 'a' }));
    expect(() => ToolState.fromJSON({ pending: [], completed: twice })).toThrow(
      'tool_state: the id "a" of a completed call is not unique',
    );
  });

  it('RUN-8 never makes two calls of one id', () => {
    const tools = ToolState.fromJSON({ pending: ['a', 'b', 'b'], completed: [{ ...call, id: 'a' }] });
    expect(() => tools.finish('a', { tool_id: 'x' })).toThrow(
      'a completed call already has the id "a": cancel this one',
    );
    tools.cancel('a');
    tools.finish('b', { tool_id: 'x' });
    expect(() => tools.finish('b', { tool_id: 'x' })).toThrow('cancel this one');
    tools.cancel('b');
    expect(tools.pending).toEqual([]);
  });

  it('shares what did not change', () => {
    const tools = new ToolState();
    tools.finish(tools.start('shell'));
    const before = tools.toJSON();
    tools.start('shell');
    expect(tools.toJSON().completed).toBe(before.completed);
    expect(before.pending).toEqual([]);
  });

  it('RUN-20 takes a completed call without a result, and leaves out what it does not know', () => {
    const call = { tool_id: 'shell', arguments: {}, success: true, duration_ms: 1, timestamp: 1 };
    const json = { pending: ['p'], completed: [{ ...call, host: 'h' }], queue: [] };
    const tools = ToolState.fromJSON(json as never);
    expect(tools.toJSON()).toEqual({ pending: ['p'], completed: [call] });
    expect(tools.finish('p', { tool_id: 'grep' })).toMatchObject({ id: 'p', result: null });
  });
});
