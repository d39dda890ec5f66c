/** What a model sees of cards: each rule of the rendering, by examples. */
import { describe, expect, it } from 'vitest';
import { type Hydration, renderSteps } from '#cairn/facts/transcripts/hydration.js';
import { prompt } from '#cairn/facts/transcripts/model.js';
import { checkDeliverable, resultFields } from '#cairn/facts/transcripts/result-fields.js';
import type { HydratedCard } from '#cairn/facts/transcripts/transcript.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import { runSteps } from '#cairn/kernel/index.js';

let made = 0;
const card = (content: Json, metadata: JsonObject, more: Partial<HydratedCard> = {}): HydratedCard => ({
  card_id: `card-${++made}`,
  content,
  metadata,
  tool_calls: null,
  tool_call_id: null,
  ...more,
});
const said = (role: string, content: Json, more: Partial<HydratedCard> = {}) => card(content, { role }, more);
const thought = (content: Json) => card(content, { type: 'agent.thought', role: 'assistant' });
const call = (id: string | null, tool_name = 'search', args: Json = { q: 'x' }) =>
  card({ tool_name, arguments: args }, { type: 'tool.call', role: 'assistant' }, { tool_call_id: id });
const result = (id: string | null, value: Json, content: Json = { status: 'success', result: value }) =>
  card(content, { type: 'tool.result', role: 'tool' }, { tool_call_id: id });

const render = (format: Hydration['format'], cards: readonly HydratedCard[], profile: Json = null) =>
  runSteps(renderSteps({ profile, cards, format })).prompt;
const openai = (...cards: HydratedCard[]) => render('openai', cards).messages;
const anthropic = (...cards: HydratedCard[]) => render('anthropic', cards).messages;

const asked = (id: string, name = 'search', args = '{"q":"x"}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const answer = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const ok = (value: string) => `{"result":"${value}","status":"success"}`;
const pending = '{"message":"There is no result yet.","status":"pending"}';
const text = (words: string) => ({ type: 'text', text: words });

describe('messages', () => {
  it('HYD-1 show each card once, where it is first, in the same bytes for any order of members', () => {
    const first = said('user', { b: 1, a: { d: 2, c: 3 } });
    const second = call('c1', 'search', { z: 1, y: 2 });
    const turned = { ...first, content: { a: { c: 3, d: 2 }, b: 1 }, metadata: { role: 'user' } };
    const called = { ...second, content: { arguments: { y: 2, z: 1 }, tool_name: 'search' } };
    for (const format of ['openai', 'anthropic'] as const) {
      const once = JSON.stringify(render(format, [first, second]));
      expect(JSON.stringify(render(format, [turned, called, first, second]))).toBe(once);
      expect(prompt.parse(JSON.parse(once))).toEqual(JSON.parse(once));
    }
    expect(openai(first, first)).toEqual([{ role: 'user', content: '{"a":{"c":3,"d":2},"b":1}' }]);
  });

  it('HYD-2 have the role that metadata says, the user without one, a thought the assistant', () => {
    expect(
      openai(
        said('assistant', 'a'),
        card('b', { type: 'task.instruction', role: 'assistant' }),
        card('c', { type: 'task.instruction' }),
        card('d', {}),
        card('e', { type: 'agent.thought' }),
        card('f', { type: 'agent.thought', role: 'user' }),
        card('g', { type: 'task.deliverable', role: null }),
      ).map(({ role, content }) => [content, role]),
    ).toEqual([
      ['a', 'assistant'],
      ['b', 'assistant'],
      ['c', 'user'],
      ['d', 'user'],
      ['e', 'assistant'],
      ['f', 'user'],
      ['g', 'user'],
    ]);
  });

  it('HYD-3 leave out records, pointers, profiles, tools and fields, also with a role', () => {
    const contents: Record<string, Json> = {
      'sys.profile': { name: 'other', system_prompt: 'not mine' },
      'sys.rendered_prompt': 'kept for the record',
      'meta.parent_pointer': { parent_agent_id: 'boss' },
      'sys.tools': { tools: [] },
      'task.result_fields': [],
    };
    const cards = Object.entries(contents).flatMap(([type, content]) => [
      card(content, { type }),
      card(content, { type, role: 'user' }),
      card(content, { type, role: 'system' }),
    ]);
    expect(render('openai', cards)).toMatchObject({ system: '', messages: [], tools: [] });
  });

  it('HYD-17 render other content as canonical JSON, and blank text not at all', () => {
    expect(openai(said('user', [2, { b: null, a: 'é' }]), said('user', 7), said('assistant', true))).toEqual([
      { role: 'user', content: '[2,{"a":"é","b":null}]' },
      { role: 'user', content: '7' },
      { role: 'assistant', content: 'true' },
    ]);
    const blank = [said('user', ''), said('assistant', ' \n'), said('system', '\t'), said('user', null)];
    expect(render('openai', blank)).toMatchObject({ system: '', messages: [] });
    expect(anthropic(said('user', 'x'), ...blank)).toEqual([{ role: 'user', content: [text('x')] }]);
    const answered = [call('c1'), said('tool', ' ', { tool_call_id: 'c1' })];
    expect(openai(...answered)).toEqual([
      { role: 'assistant', content: null, tool_calls: [asked('c1')] },
      answer('c1', '(empty)'),
    ]);
    expect(anthropic(said('user', 'x'), said('assistant', '\n'), ...answered)[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'search', input: { q: 'x' } }],
    });
  });
});

describe('the system prompt', () => {
  const cards = [
    said('system', 'Be brief.'),
    card([{ name: 'summary', required: true, description: 'What was found' }, { name: 'notes' }], {
      type: 'task.result_fields',
    }),
    said('user', 'Go.'),
    said('system', { rule: 1 }),
  ];
  const fields = 'The result has these fields:\n- summary (required): What was found\n- notes (optional)';

  it('HYD-4 is the prompt of the profile, what system cards say, and the fields', () => {
    const system = `You search.\n\nBe brief.\n\n{"rule":1}\n\n${fields}`;
    const profile = { name: 'p', system_prompt: 'You search.', instructions: 'not this' };
    expect(render('openai', cards, profile)).toMatchObject({
      system,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Go.' },
      ],
    });
    expect(render('anthropic', cards, profile)).toMatchObject({
      system,
      messages: [{ role: 'user', content: [text('Go.')] }],
    });
    expect(render('openai', [], { name: 'p', system_prompt: ' ', instructions: 'This.' }).system).toBe('This.');
    for (const none of [null, 'text', { name: 'p', system_prompt: 3 }])
      expect(render('openai', [], none)).toMatchObject({ system: '', messages: [] });
  });

  it('HYD-5 lists the fields of all cards, the later of a name in the place of the earlier', () => {
    const more = card(
      [
        { name: 'summary', description: 'one\ntwo' },
        { name: 'score', required: true },
      ],
      { type: 'task.result_fields' },
    );
    const unfit = card({ name: 'no list' }, { type: 'task.result_fields' });
    expect(resultFields([...cards, unfit, more])).toEqual([
      { name: 'summary', description: 'one\ntwo' },
      { name: 'notes' },
      { name: 'score', required: true },
    ]);
    expect(render('openai', [cards[1]!, more]).system).toBe(
      'The result has these fields:\n- summary (optional): one\n  two\n- notes (optional)\n- score (required)',
    );
  });
});

describe('a deliverable', () => {
  it('HYD-6 lacks the required fields that are no members of it', () => {
    const required = [{ name: 'a', required: true }, { name: 'b', required: true }, { name: 'c' }];
    expect(checkDeliverable(required, { b: null, c: 1 })).toEqual(['a']);
    expect(checkDeliverable(required, { a: 0, b: '' })).toEqual([]);
    expect(checkDeliverable(required, 'a and b')).toEqual(['a', 'b']);
    expect(checkDeliverable(required, ['a', 'b'])).toEqual(['a', 'b']);
    expect(checkDeliverable([{ name: 'c' }, { name: 'd', required: false }], 'text')).toEqual([]);
    expect(checkDeliverable([{ name: 'toString', required: true }], {})).toEqual(['toString']);
  });
});

describe('tools', () => {
  const schema = { type: 'object', properties: { q: { type: 'string' } } };
  const asOpenai = { type: 'function', function: { name: 'search', description: 'Finds', parameters: schema } };
  const asAnthropic = { name: 'search', description: 'Finds', input_schema: schema };
  const plain = { name: 'search', description: 'Finds', parameters: schema };
  const list = (...tools: Json[]) => card({ tools }, { type: 'sys.tools' });
  const names = (tools: Json[]) => tools.map((tool) => (tool as { name: string }).name);

  it('HYD-7 are those of the profile and of each card, the later of a name in the place of the earlier', () => {
    const profile = { name: 'p', tools: [{ name: 'a' }, { name: 'b' }] };
    const cards = [list({ name: 'c' }, asOpenai), list({ name: 'a', description: 'newer' }, { name: 'd' })];
    const { tools } = render('anthropic', cards, profile);
    expect(names(tools)).toEqual(['a', 'b', 'c', 'search', 'd']);
    expect(tools[0]).toMatchObject({ description: 'newer' });
    expect(render('openai', [], { name: 'p', tools: 'none' }).tools).toEqual([]);
  });

  it.each([asOpenai, asAnthropic, plain])('HYD-8 are given in the shape asked for: %j', (tool) => {
    expect(render('openai', [list(tool)]).tools).toEqual([asOpenai]);
    expect(render('anthropic', [list(tool)]).tools).toEqual([asAnthropic]);
  });

  it('HYD-8 have a schema of an object, keep what their own shape says, and pass if they are of another', () => {
    const empty = { type: 'object', properties: {} };
    expect(render('anthropic', [list({ name: 'a' })]).tools).toEqual([{ name: 'a', input_schema: empty }]);
    expect(render('anthropic', [list({ name: 'a', parameters: { required: [] } })]).tools).toEqual([
      { name: 'a', input_schema: { type: 'object', required: [] } },
    ]);
    const cached = { ...asAnthropic, cache_control: { type: 'ephemeral' } };
    const strict = { ...asOpenai, function: { ...asOpenai.function, strict: true } };
    expect(render('anthropic', [list(cached)]).tools).toEqual([cached]);
    expect(render('openai', [list(strict)]).tools).toEqual([strict]);
    expect(render('openai', [list(cached)]).tools).toEqual([asOpenai]);
    const others: Json[] = [{ type: 'web_search_20250305', name: 'web_search' }, { x: 1 }, { x: 1 }];
    for (const format of ['openai', 'anthropic'] as const)
      expect(render(format, [list(...others)], { name: 'p', tools: ['text'] }).tools).toEqual(['text', ...others]);
  });
});

describe('tool calls', () => {
  it('HYD-9 join the message of the assistant right before them, or are one without text', () => {
    const record = card('prompt', { type: 'sys.rendered_prompt' });
    const cards = [thought('I look.'), record, call('c1'), call('c2', 'read', {}), result('c1', 'A')];
    expect(openai(...cards, result('c2', 'B'), call('c3'), result('c3', 'C'))).toEqual([
      { role: 'assistant', content: 'I look.', tool_calls: [asked('c1'), asked('c2', 'read', '{}')] },
      answer('c1', ok('A')),
      answer('c2', ok('B')),
      { role: 'assistant', content: null, tool_calls: [asked('c3')] },
      answer('c3', ok('C')),
    ]);
    expect(openai(said('user', 'x'), call('c1'), said('user', 'y')).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('HYD-9 are also those in the list of a card of the assistant, in each shape', () => {
    const tool_calls: JsonObject[] = [
      asked('c1'),
      { id: 'c2', tool_name: 'search', arguments: { q: 'x' } },
      { id: 'c3', name: 'search', arguments: '{"q": "x"}' },
      { type: 'tool_use', id: 'c4', name: 'search', input: { q: 'x' } },
      { b: 1, a: 'no call' },
    ];
    const [message, ...answers] = openai(said('assistant', 'Four.', { tool_calls }));
    expect(message).toEqual({
      role: 'assistant',
      content: 'Four.\n{"a":"no call","b":1}',
      tool_calls: ['c1', 'c2', 'c3', 'c4'].map((id) => asked(id)),
    });
    expect(answers).toEqual(['c1', 'c2', 'c3', 'c4'].map((id) => answer(id, pending)));
    expect(openai(said('user', 'x', { tool_calls }))).toEqual([{ role: 'user', content: 'x' }]);
    const unfit = card({ tool: 'search' }, { type: 'tool.call' });
    expect(openai(unfit)).toEqual([{ role: 'assistant', content: '{"tool":"search"}' }]);
  });

  it('HYD-10 are shown once if they are written again before there is a result', () => {
    const both = said('assistant', 'Two.', { tool_calls: [asked('c1'), asked('c2')] });
    const cards = [both, call('c1'), result('c1', 'A'), call('c2'), result('c2', 'B')];
    expect(openai(...cards)).toEqual([
      { role: 'assistant', content: 'Two.', tool_calls: [asked('c1'), asked('c2')] },
      answer('c1', ok('A')),
      answer('c2', ok('B')),
    ]);
    expect(openai(call('c1'), result('c1', 'A'), call('c1'), result('c1', 'B'))).toMatchObject([
      { role: 'assistant' },
      { content: ok('A') },
      { role: 'assistant' },
      { content: ok('B') },
    ]);
  });

  it('HYD-15 have arguments as canonical JSON text or as an object', () => {
    const given: Json[] = [{ b: 1, a: 2 }, '{"b":1,"a":2}', 'not JSON', '[1]', 5, '', null];
    const tool_calls = given.map((args, i) => ({ id: `c${i}`, name: 'f', arguments: args }));
    const inputs = [
      { a: 2, b: 1 },
      { a: 2, b: 1 },
      { arguments: 'not JSON' },
      { arguments: [1] },
      { arguments: 5 },
      {},
      {},
    ];
    const [first] = openai(said('assistant', '', { tool_calls }));
    expect(first).toMatchObject({
      tool_calls: inputs.map((input) => ({ function: { arguments: JSON.stringify(input) } })),
    });
    expect(anthropic(said('assistant', '', { tool_calls }))[1]).toMatchObject({
      content: inputs.map((input) => ({ type: 'tool_use', input })),
    });
  });

  it('HYD-14 have ids that the format takes, each once, and derived ones if they have none', () => {
    const long = 'x'.repeat(41);
    const given = ['c1', 'a.b:0', 'a b', long, null, 'c1'];
    const cards = given.flatMap((id, i) => [call(id, 'f', { i }), ...(id ? [result(id, `r${i}`)] : [])]);
    const ids = (format: Hydration['format']) =>
      [...JSON.stringify(render(format, cards)).matchAll(/"id":"([^"]*)"/g)].map((match) => match[1]!);
    const derived = expect.stringMatching(/^call_[0-9a-f]{24}$/);
    expect(ids('openai')).toEqual(['c1', 'a.b:0', 'a b', derived, derived, derived]);
    expect(ids('anthropic')).toEqual(['c1', derived, derived, long, derived, derived]);
    for (const format of ['openai', 'anthropic'] as const) expect(new Set(ids(format)).size).toBe(6);
    const shown = openai(...cards);
    expect(shown.at(-1)).toMatchObject({ tool_call_id: ids('openai')[5], content: ok('r5') });
    const idless = call(null);
    const { tool_call_id } = render('openai', [idless]).pending_calls[0]!;
    expect(openai(idless, result(tool_call_id, 'A'))[1]).toEqual(answer(tool_call_id, ok('A')));
  });
});

describe('results', () => {
  const failure = { status: 'failed', error: { code: 'NO', message: 'no' } };

  it('HYD-11 follow their message directly, in the order of the calls', () => {
    const cards = [thought('t'), call('c1'), call('c2', 'read'), said('user', 'Wait.')];
    const shown = [...cards, result('c2', null, failure), thought('Hm.'), result('c1', 'A')];
    const failed = '{"error":{"code":"NO","message":"no"},"status":"failed"}';
    expect(openai(...shown).slice(1)).toEqual([
      answer('c1', ok('A')),
      answer('c2', failed),
      { role: 'user', content: 'Wait.' },
      { role: 'assistant', content: 'Hm.' },
    ]);
    expect(anthropic(said('user', 'x'), ...shown)[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: ok('A') },
        { type: 'tool_result', tool_use_id: 'c2', content: failed, is_error: true },
        text('Wait.'),
      ],
    });
  });

  it('HYD-12 that are not there yet are pending, and the calls are listed', () => {
    const cards = [call('c1'), call('a.b', 'read', { path: '/' })];
    const { messages, pending_calls } = render('anthropic', [...cards, result('c1', 'A')]);
    expect(messages.at(-1)).toMatchObject({
      role: 'user',
      content: [{ content: ok('A') }, { type: 'tool_result', content: pending }],
    });
    expect(JSON.stringify(messages)).not.toContain('is_error');
    expect(pending_calls).toEqual([{ tool_call_id: 'a.b', tool_name: 'read', arguments: { path: '/' } }]);
  });

  it('HYD-12 answer the last call of their id that waits, or one that follows them', () => {
    const again = [call('c1', 'f', { n: 1 }), said('user', 'x'), call('c1', 'f', { n: 2 }), result('c1', 'B')];
    expect(openai(...again).map(({ content }) => content)).toEqual([null, pending, 'x', null, ok('B')]);
    expect(openai(result('c1', 'A'), said('user', 'x'), call('c1'))).toEqual([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [asked('c1')] },
      answer('c1', ok('A')),
    ]);
  });

  it('HYD-13 without a call, and second ones, are text of the user', () => {
    const cards = [call('c1'), result('c1', 'A'), result('c1', 'B'), result('c9', 'C')];
    const free = said('tool', 'D');
    expect(openai(...cards, free, call('c1', 'g')).slice(2)).toEqual([
      { role: 'user', content: `Result of the tool call c1:\n${ok('B')}` },
      { role: 'user', content: `Result of the tool call c9:\n${ok('C')}` },
      { role: 'user', content: 'Result of a tool call without an id:\nD' },
      { role: 'assistant', content: null, tool_calls: [asked(expect.anything(), 'g')] },
      answer(expect.anything(), pending),
    ]);
  });
});

describe('the Anthropic format', () => {
  it('HYD-16 has roles in turn, the first the user, and no white space at the end', () => {
    expect(anthropic(said('user', 'a '), said('user', 'b'), thought('c '), thought('d \n'))).toEqual([
      { role: 'user', content: [text('a '), text('b')] },
      { role: 'assistant', content: [text('c '), text('d')] },
    ]);
    const begin = { role: 'user', content: [text('Begin.')] };
    expect(anthropic()).toEqual([begin]);
    expect(anthropic(thought('a'))).toEqual([begin, { role: 'assistant', content: [text('a')] }]);
  });
});
