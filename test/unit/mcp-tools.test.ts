/** Tools as the table has them, and answers as models read them. */
import { describe, expect, it } from 'vitest';
import { outline } from '#cairn/mcp/outline.js';
import { describeTool, toolsIn, withDefaults } from '#cairn/mcp/tools.js';

describe('tools of the table', () => {
  it('have names that are theirs alone, and say when to use them', () => {
    const tools = toolsIn();
    const names = tools.map(({ mcp }) => mcp.tool);
    expect(names).toEqual(expect.arrayContaining(['remember', 'recall']));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z_]{0,63}$/);
    for (const { mcp, stream } of tools) {
      expect(mcp.use).toMatch(/^[A-Z].*\.$/);
      expect(stream).toBeUndefined();
    }
  });

  it('need not be told what the settings say', () => {
    const recall = toolsIn().find(({ mcp }) => mcp.tool === 'recall')!;
    const trajectory_id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5f';
    const defaults = { trajectory_id, unknown: 'x' };
    expect(withDefaults(recall, { query: 'tea' }, defaults)).toEqual({ query: 'tea', trajectory_id });
    expect(withDefaults(recall, { trajectory_id: 'mine' }, defaults)).toEqual({ trajectory_id: 'mine' });
    expect(withDefaults(recall, { scope_id: 's' }, defaults)).toEqual({ scope_id: 's' });
    expect(describeTool(recall, { query: 'tea' }).inputSchema.required).toEqual([]);
  });
});

describe('an outline', () => {
  it('has a line for each member, and none for what is null', () => {
    const value = { id: 'n1', confidence: null, score: 0.5, tags: ['a', 'b'], found: [], meta: {} };
    expect(outline(value)).toBe('id: n1\nscore: 0.5\ntags: a, b\nfound: (none)\nmeta: (empty)');
  });

  it('numbers lists and indents what has several lines', () => {
    const value = { passages: [{ text: 'one\ntwo', at: { x: 1 } }, { text: 'three' }] };
    expect(outline(value)).toBe(
      [
        'passages:',
        '  1. text:',
        '       one',
        '       two',
        '     at:',
        '       x: 1',
        '  2. text: three',
      ].join('\n'),
    );
  });

  it('takes what is no object', () => {
    expect([outline('a'), outline(3), outline([]), outline([1, [2]])]).toEqual([
      'a',
      '3',
      '(none)',
      '1. 1\n2. 2',
    ]);
  });
});
