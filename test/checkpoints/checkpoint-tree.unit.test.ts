/** How checkpoints descend from each other, also where files were brought in before those that they name. */
import { describe, expect, it } from 'vitest';
import { buildTree } from '#cairn/checkpoints/checkpoints/tree.js';

type Pair = readonly [checkpoint_id: string, parent_id: string | null];

const rows = (pairs: readonly Pair[]) => pairs.map(([checkpoint_id, parent_id]) => ({ checkpoint_id, parent_id }));

const shown = (...pairs: readonly Pair[]) => {
  const { roots, nodes } = buildTree(rows(pairs));
  return { roots, nodes: nodes.map(({ row, children }) => `${row.checkpoint_id}:${children.join()}`) };
};

describe('the descent of checkpoints', () => {
  it('keeps the order, and gives each its children', () => {
    expect(shown(['a', null], ['b', 'a'], ['c', 'a'], ['d', 'b'])).toEqual({
      roots: ['a'],
      nodes: ['a:b,c', 'b:d', 'c:', 'd:'],
    });
    expect(shown()).toEqual({ roots: [], nodes: [] });
  });

  it('EXEC-21 makes a root of one whose parent is not there', () => {
    expect(shown(['b', 'gone'], ['c', 'b'], ['d', 'lost'])).toEqual({ roots: ['b', 'd'], nodes: ['b:c', 'c:', 'd:'] });
  });

  it('EXEC-20 puts one that came before its parent behind it', () => {
    expect(shown(['c', 'b'], ['x', null], ['b', 'a'], ['a', null])).toEqual({
      roots: ['a', 'x'],
      nodes: ['a:b', 'b:c', 'c:', 'x:'],
    });
  });

  it('gets out of a circle, with every node once', () => {
    expect(shown(['a', 'b'], ['b', 'a'], ['c', 'a'], ['d', 'd'])).toEqual({
      roots: ['b', 'd'],
      nodes: ['b:a', 'a:c', 'c:', 'd:'],
    });
  });

  it('follows a line of any length', () => {
    const line = Array.from({ length: 50_000 }, (_, i): Pair => [`${i}`, i === 0 ? null : `${i - 1}`]);
    const { roots, nodes } = buildTree(rows(line.reverse()));
    expect(roots).toEqual(['0']);
    expect(nodes.map(({ row }) => row.checkpoint_id)).toEqual(line.reverse().map(([id]) => id));
  });
});
