/** What is retained of states, and until when. */
import { describe, expect, it } from 'vitest';
import { RetainedStates } from '#cairn/checkpoints/states/retained-states.js';
import { emptyState } from '#cairn/checkpoints/states/snapshot-state.js';

/** A state of its own: one that is found is known by being the very same. */
const someState = () => ({ ...emptyState });

describe('retained states', () => {
  it('of deleted executions are forgotten, and of no others', () => {
    const states = new RetainedStates();
    const kept = [someState(), someState()] as const;
    for (const execution_id of ['run', 'second']) {
      for (const checkpoint_id of [`${execution_id} 1`, `${execution_id} 2`])
        states.set('acme', { execution_id, checkpoint_id }, someState());
      states.setLast('acme', execution_id, `${execution_id} 2`);
    }
    states.set('acme', { execution_id: 'other', checkpoint_id: 'o' }, kept[0]);
    states.setLast('acme', 'other', 'o');
    states.set('globex', { execution_id: 'run', checkpoint_id: 'run 1' }, kept[1]);
    states.setLast('globex', 'run', 'run 1');

    states.forgetExecutions('acme', ['run', 'second', 'unknown']);
    for (const id of ['run 1', 'run 2', 'second 1', 'second 2']) expect(states.get('acme', id)).toBeUndefined();
    for (const id of ['run', 'second']) expect(states.lastOf('acme', id)).toBeUndefined();
    expect(states.get('acme', 'o')).toBe(kept[0]);
    expect(states.lastOf('acme', 'other')).toBe('o');
    expect(states.get('globex', 'run 1')).toBe(kept[1]);
    expect(states.lastOf('globex', 'run')).toBe('run 1');
  });

  it('are replaced and forgotten one by one', () => {
    const states = new RetainedStates();
    const at = { execution_id: 'run', checkpoint_id: 'a' };
    const later = someState();
    states.set('acme', at, someState());
    states.set('acme', at, later);
    expect(states.get('acme', 'a')).toBe(later);
    states.forget('acme', 'a');
    expect(states.get('acme', 'a')).toBeUndefined();
  });

  it('are a thousand at most: the one that was asked for longest ago goes', () => {
    const states = new RetainedStates();
    const name = (n: number) => ({ execution_id: `run ${n}`, checkpoint_id: `${n}` });
    for (let n = 0; n < 1000; n++) states.set('acme', name(n), someState());
    states.get('acme', '0');
    states.set('acme', name(1000), someState());
    expect(states.get('acme', '1')).toBeUndefined();
    for (const id of ['0', '2', '1000']) expect(states.get('acme', id)).toBeDefined();
  });
});
