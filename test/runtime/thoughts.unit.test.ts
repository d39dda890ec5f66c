/** The thoughts of a run: where they are put, how they change, and that they stay a tree. */
import { describe, expect, it } from 'vitest';
import { MAX_ENTRIES } from '#cairn/checkpoints/contract.js';
import { ThoughtChain } from '#cairn/runtime/index.js';

const plain = (id: string) => ({
  id,
  type: 'planning' as const,
  content: `think ${id}`,
  confidence: 0.5,
  timestamp: 7,
});
const plan = (id: string, parent_id?: string | null) => ({
  ...plain(id),
  ...(parent_id === undefined ? {} : { parent_id }),
});

/** a ─ b ─ c, and d beside b. */
function family(): ThoughtChain {
  const chain = new ThoughtChain();
  for (const step of [plan('a'), plan('b'), plan('c'), plan('d', 'a')]) chain.add(step);
  return chain;
}
const shape = (chain: ThoughtChain) =>
  Object.fromEntries(chain.list().map(({ id, parent_id, children }) => [id, [parent_id, ...children]]));

describe('adding', () => {
  it('RUN-1 puts a step below the current one and makes it the current one', () => {
    const chain = new ThoughtChain();
    const first = chain.add({ type: 'planning', content: 'look', confidence: 1 });
    expect(first.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(first.timestamp - Date.now())).toBeLessThan(10_000);
    const second = chain.add({ type: 'decision', content: 'go', confidence: 0, metadata: { why: ['x'] } });
    expect(second).toMatchObject({ parent_id: first.id, children: [], metadata: { why: ['x'] } });
    expect(chain.get(first.id)?.children).toEqual([second.id]);
    expect(chain.current).toBe(second);
    expect(chain.length).toBe(2);
  });

  it('RUN-1 takes a parent, or none', () => {
    const chain = family();
    chain.add(plan('root', null));
    expect(shape(chain)).toEqual({ a: [undefined, 'b', 'd'], b: ['a', 'c'], c: ['b'], d: ['a'], root: [undefined] });
    expect(chain.get('root')).not.toHaveProperty('parent_id');
  });

  it.each([
    ['an id that already exists', plan('a'), 'thoughts.add: the id "a" already exists'],
    ['a parent that is not there', plan('x', 'nobody'), 'thoughts.add: there is no step "nobody"'],
    ['a confidence above 1', { ...plan('x'), confidence: 1.5 }, /^thoughts\.add: confidence: /],
    ['children', { ...plan('x'), children: ['a'] }, 'thoughts.add: unknown field "children"'],
    ['what is not JSON', { ...plan('x'), metadata: { at: new Date() } }, /metadata: "at" is not a plain object/],
  ])('refuses %s and changes nothing', (_, step, message) => {
    const chain = family();
    const before = chain.toJSON();
    expect(() => chain.add(step as never)).toThrow(message);
    expect(chain.toJSON()).toBe(before);
  });

  it('holds no more than a checkpoint takes', () => {
    const steps = Array.from({ length: MAX_ENTRIES }, (_, i) => ({ ...plain(`s${i}`), children: [] }));
    const chain = ThoughtChain.fromJSON({ steps });
    expect(() => chain.add(plan('one more'))).toThrow('there are already 100000 entries');
    chain.remove('s5');
    expect(chain.add(plan('one more')).id).toBe('one more');
    expect(chain.get('s99999')?.id).toBe('s99999');
  });
});

describe('changing', () => {
  it('RUN-2 keeps what the patch does not name, and what was handed out before', () => {
    const chain = family();
    const before = chain.get('b')!;
    const metadata = { tags: ['x'] };
    const after = chain.update('b', { confidence: 0.9, metadata, reasoning: 'since' });
    metadata.tags.push('y');
    expect(after).toEqual({ ...before, confidence: 0.9, metadata: { tags: ['x'] }, reasoning: 'since' });
    expect(before).toMatchObject({ confidence: 0.5 });
    expect(chain.get('b')).toBe(after);
    expect(chain.update('b', { reasoning: null, metadata: null })).toEqual({ ...before, confidence: 0.9 });
    expect(chain.get('b')).not.toHaveProperty('reasoning');
  });

  it('RUN-11 gives frozen steps, so that nothing changes behind its back', () => {
    const chain = family();
    const step = chain.update('b', { metadata: { deep: { list: [1] } } });
    expect(() => (step.children as string[]).push('x')).toThrow(TypeError);
    expect(() => ((step.metadata as { deep: { list: number[] } }).deep.list[0] = 2)).toThrow(TypeError);
    expect(() => (chain.list() as unknown[]).pop()).toThrow(TypeError);
  });

  it.each([
    ['a step that is not there', 'x', {}, 'thoughts.update: there is no step "x"'],
    ['another id', 'a', { id: 'z' }, 'thoughts.update: unknown field "id"'],
    ['an unknown type', 'a', { type: 'dreaming' }, /^thoughts\.update: type: /],
  ])('refuses %s', (_, id, patch, message) => {
    const chain = family();
    const before = chain.toJSON();
    expect(() => chain.update(id, patch as never)).toThrow(message);
    expect(chain.toJSON()).toBe(before);
  });

  it('RUN-2 attaches a step with all below it elsewhere', () => {
    const chain = family();
    chain.attach('b', 'd');
    expect(shape(chain)).toEqual({ a: [undefined, 'd'], b: ['d', 'c'], c: ['b'], d: ['a', 'b'] });
    chain.attach('b', null);
    expect(shape(chain)).toEqual({ a: [undefined, 'd'], b: [undefined, 'c'], c: ['b'], d: ['a'] });
    expect(() => chain.attach('b', 'c')).toThrow('"b" cannot move below its own descendant "c"');
    expect(() => chain.attach('b', 'b')).toThrow('cannot move below its own descendant');
  });
});

describe('removing', () => {
  it('RUN-3 gives the children to the parent, in the place of the step', () => {
    const chain = family();
    chain.add(plan('e', 'b'));
    chain.remove('b');
    expect(shape(chain)).toEqual({ a: [undefined, 'c', 'e', 'd'], c: ['a'], d: ['a'], e: ['a'] });
  });

  it('RUN-3 makes roots of the children of a root', () => {
    const chain = family();
    chain.remove('a');
    expect(shape(chain)).toEqual({ b: [undefined, 'c'], c: ['b'], d: [undefined] });
    expect(chain.get('b')).not.toHaveProperty('parent_id');
  });

  it('RUN-3 leads from the current step to its parent, and from a root to nothing', () => {
    const chain = family();
    chain.remove('d');
    expect(chain.current?.id).toBe('a');
    chain.moveTo('c');
    chain.remove('b');
    expect(chain.current?.id).toBe('c');
    chain.moveTo('a');
    chain.remove('a');
    expect(chain.current).toBeUndefined();
    expect(chain.toJSON()).not.toHaveProperty('current_step_id');
  });
});

describe('the current step', () => {
  it('is where the next one goes', () => {
    const chain = family();
    chain.moveTo('c');
    expect(chain.path().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(chain.add(plan('next')).parent_id).toBe('c');
    chain.moveTo(null);
    expect(chain.path()).toEqual([]);
    expect(chain.add(plan('root'))).not.toHaveProperty('parent_id');
    expect(() => chain.moveTo('nobody')).toThrow('thoughts.moveTo: there is no step "nobody"');
    expect(() => chain.path('nobody')).toThrow('thoughts.path: there is no step "nobody"');
  });
});

describe('as JSON', () => {
  it('comes back as it was, in any order of steps', () => {
    const json = family().toJSON();
    const turned = { ...json, steps: [...json.steps].reverse() };
    expect(ThoughtChain.fromJSON(JSON.parse(JSON.stringify(turned))).toJSON()).toEqual(turned);
    const again = ThoughtChain.fromJSON(json);
    expect(again.get('b')).toBe(json.steps[1]);
    again.remove('a');
    expect(json.steps.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is the same object until something changes, and shares what did not', () => {
    const chain = family();
    const before = chain.toJSON();
    expect(chain.toJSON()).toBe(before);
    chain.update('c', { confidence: 1 });
    const after = chain.toJSON();
    expect(after).not.toBe(before);
    expect(after.steps.map((step, i) => step === before.steps[i])).toEqual([true, true, false, true]);
  });

  const step = (id: string, parent_id?: string, ...children: string[]) => ({
    ...plain(id),
    ...(parent_id && { parent_id }),
    children,
  });
  it.each([
    ['an id twice', [step('a'), step('a')], 'the id "a" is not unique'],
    ['an unknown child', [step('a', '', 'x')], 'step "a" has the child "x", which does not exist'],
    ['a child twice', [step('a', '', 'b', 'b'), step('b', 'a')], 'step "a" has the child "b" twice'],
    ['the child of another', [step('a', '', 'b'), step('b')], 'has the child "b", whose parent_id is absent'],
    [
      'a child that has another parent',
      [step('a', '', 'b'), step('b', 'c'), step('c', '', 'b')],
      'step "a" has the child "b", whose parent_id is "c"',
    ],
    ['an unknown parent', [step('a', 'x')], 'step "a" has the parent "x", which does not exist'],
    [
      'a parent that does not know it',
      [step('a'), step('b', 'a')],
      'step "b" has the parent "a", which does not list it as a child',
    ],
    [
      'a cycle',
      [step('r'), step('a', 'c', 'b'), step('b', 'a', 'c'), step('c', 'b', 'a')],
      'step "a" is its own ancestor: its parents form a cycle',
    ],
    ['a step below itself', [step('a', 'a', 'a')], 'step "a" is its own ancestor'],
  ])('RUN-4 refuses %s by name', (_, steps, message) => {
    const load = () => ThoughtChain.fromJSON({ steps });
    expect(load).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(load).toThrow(`thought_chain: ${message.startsWith('has') ? `step "a" ${message}` : message}`);
  });

  it('refuses a current step that is not there, and what is not of the form', () => {
    expect(() => ThoughtChain.fromJSON({ steps: [], current_step_id: 'x' })).toThrow(
      'thought_chain: current_step_id names the step "x", which does not exist',
    );
    expect(() => ThoughtChain.fromJSON({ steps: [{ id: 'a' }] } as never)).toThrow(/^thought_chain: steps\[0\]\./);
    expect(() => ThoughtChain.fromJSON(undefined as never)).toThrow(/^thought_chain: /);
  });
});
