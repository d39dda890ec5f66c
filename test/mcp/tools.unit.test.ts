/** Tools as the table has them, and answers as models read them. */
import { describe, expect, it } from 'vitest';
import { outline } from '#cairn/mcp/outline.js';
import { describeTool, type OperationAsTool, toolsIn, withDefaults } from '#cairn/mcp/tools.js';

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

  it('have schemas that clients can map onto others, and that newer answers fit as well', () => {
    for (const operation of toolsIn()) {
      const { inputSchema, outputSchema } = describeTool(operation, {});
      expect(outputSchema).toMatchObject({ type: 'object' });
      expect(JSON.stringify(outputSchema)).not.toContain('"additionalProperties":false');
      const text = JSON.stringify([inputSchema, outputSchema]);
      expect(text).not.toMatch(/"type":\[/);
      for (const [, name] of text.matchAll(/"#\/\$defs\/([^"]+)"/g))
        expect({ ...inputSchema.$defs!, ...outputSchema!.$defs! }).toHaveProperty(name!);
    }
  });

  it('need not be told where the caller works', () => {
    const [remember, recall] = ['remember', 'recall'].map(
      (name) => toolsIn().find(({ mcp }) => mcp.tool === name)!,
    ) as [OperationAsTool, OperationAsTool];
    const defaults = { trajectory_id: 'theirs', unknown: 'x' };
    expect(withDefaults(remember, { text: 'tea' }, defaults)).toEqual({ text: 'tea', trajectory_id: 'theirs' });
    expect(withDefaults(remember, { trajectory_id: 'mine' }, defaults)).toEqual({ trajectory_id: 'mine' });
    expect(withDefaults(remember, { scope_id: 's' }, defaults)).toEqual({ scope_id: 's' });
    expect(withDefaults(recall, { query: 'tea' }, defaults)).toEqual({ query: 'tea', max_tokens: 8000 });
    expect(withDefaults(recall, { max_tokens: 5 }, defaults)).toEqual({ max_tokens: 5 });
    const needy = { ...remember, mcp: { ...remember.mcp, place: ['text'] } };
    expect(describeTool(needy, {}).inputSchema.required).toEqual(['text']);
    expect(describeTool(needy, { text: 'tea' }).inputSchema.required).toEqual([]);
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
      ['passages:', '  1. text:', '       one', '       two', '     at:', '       x: 1', '  2. text: three'].join('\n'),
    );
  });

  it('takes what is no object', () => {
    expect([outline('a'), outline(3), outline([]), outline([1, [2]])]).toEqual(['a', '3', '(none)', '1. 1\n2. 2']);
  });
});
