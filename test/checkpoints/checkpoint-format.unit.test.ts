/** The portable checkpoint: older versions are read as this one, and files of it have stable bytes. */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Checkpoint } from '#cairn/checkpoints/checkpoints/model.js';
import { CHECKPOINT_VERSIONS, checkpointText, readCheckpoint } from '#cairn/checkpoints/checkpoints/versions.js';
import * as arbitrary from '../support/nouns/snapshots.js';

const fixtures = new URL('../fixtures/checkpoints/', import.meta.url);
const fixture = (name: string) => JSON.parse(readFileSync(new URL(name, fixtures), 'utf8'));
const older = CHECKPOINT_VERSIONS.filter((version) => version !== '1.0.0');

/** The fixture with some member replaced, or without it. */
function altered(version: string, path: (string | number)[], value?: unknown): unknown {
  const file = fixture(`${version}.json`);
  const holder = path.slice(0, -1).reduce((at, name) => at[name], file);
  if (value === undefined) delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = value;
  return file;
}

describe('an older version', () => {
  it('has a file to test it with, each', () => {
    const files = readdirSync(fixtures).filter((name) => !name.includes('-as-'));
    expect(files.sort()).toEqual(older.map((version) => `${version}.json`).sort());
  });

  it.each(older)('%s is read as it is written down, and not altered', (version) => {
    const file = fixture(`${version}.json`);
    const expected = fixture(`${version}-as-1.0.0.json`);
    expect(readCheckpoint(file)).toEqual(expected);
    expect(readCheckpoint(expected)).toEqual(expected);
    expect(file).toEqual(fixture(`${version}.json`));
  });

  it('0.9.0 may leave out what 1.0.0 has', () => {
    const least = {
      version: '0.9.0',
      checkpoint_id: 'cp-1',
      execution_id: 'run-1',
      agent: 'coder',
      created_at: '1970-01-01T00:00:00Z',
      reason: 'timer',
      step: 0,
      parent_id: null,
      thoughts: [],
      messages: [],
      variables: {},
      tools: [],
    };
    expect(readCheckpoint(least)).toEqual({
      version: '1.0.0',
      id: 'cp-1',
      timestamp: 0,
      execution_id: 'run-1',
      agent_id: 'coder',
      metadata: { step_number: 0, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'auto' },
      snapshot: {
        thought_chain: { steps: [] },
        context: { messages: [], variables: {} },
        tool_state: { pending: [], completed: [] },
      },
    });
  });

  it('FILE-13 keeps members that it does not know', () => {
    const more = { x_host: { name: 'h' } };
    const old = JSON.parse(JSON.stringify(altered('0.9.0', ['x_host'], more.x_host)));
    Object.assign(old.thoughts[0], more);
    Object.assign(old.tools[0], more);
    Object.assign(old.messages[0], more);
    const { snapshot, ...read } = readCheckpoint(old);
    expect(read).toMatchObject(more);
    expect(snapshot.thought_chain.steps[0]).toMatchObject(more);
    expect(snapshot.tool_state.completed[0]).toMatchObject(more);
    expect(snapshot.context.messages[0]).toMatchObject(more);
  });

  it.each<[string, (string | number)[], unknown]>([
    ['0.9.0: agent', ['agent'], undefined],
    ['0.9.0: reason', ['reason'], 'step_complete'],
    ['0.9.0: created_at', ['created_at'], 'yesterday'],
    ['0.9.0: created_at', ['created_at'], '1969-12-31T23:59:59Z'],
    ['0.9.0: thoughts[1].confidence', ['thoughts', 1, 'confidence'], 1.5],
    ['0.9.0: tools[0].ok', ['tools', 0, 'ok'], 'yes'],
    ['0.9.0: unknown field "snapshot"', ['snapshot'], {}],
    ['0.9.0: unknown field "success" in tools[0]', ['tools', 0, 'success'], true],
    ['0.9.0: unknown field "type" in thoughts[1]', ['thoughts', 1, 'type'], 'planning'],
    ['0.9.0: variables: "plan.title" contains a NUL', ['variables', 'plan', 'title'], '\u0000'],
  ])('is refused by the name of its own field: %s', (named, path, value) => {
    expect(() => readCheckpoint(altered('0.9.0', path, value))).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`checkpoint of version ${named}`),
      }),
    );
  });
});

describe('readCheckpoint', () => {
  it.each([
    ['"2.0.0"', { version: '2.0.0' }],
    ['"0.8.0"', { version: '0.8.0' }],
    ['1', { version: 1 }],
    ['"__proto__"', { version: '__proto__' }],
    ['has no `version`', {}],
  ])('refuses an unknown version by name: %s', (named, file) => {
    const supported = 'supported versions are 0.9.0, 1.0.0';
    expect(() => readCheckpoint({ ...fixture('0.9.0-as-1.0.0.json'), version: undefined, ...file })).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_VERSION',
        message: expect.stringMatching(new RegExp(`${named}.*${supported}`)),
      }),
    );
  });

  it.each([[[]], [null], ['1.0.0'], [undefined]])('refuses what is no object: %j', (value) => {
    expect(() => readCheckpoint(value)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });

  it('names the field that is wrong', () => {
    const file = fixture('0.9.0-as-1.0.0.json');
    file.snapshot.thought_chain.steps[2].type = 'dreaming';
    expect(() => readCheckpoint(file)).toThrow(/snapshot\.thought_chain\.steps\[2\].type: must be .*planning/);
  });
});

describe('checkpointText', () => {
  const small = {
    snapshot: {
      tool_state: { completed: [], pending: [] },
      context: { variables: { b: 1, a: { d: [], c: null } }, messages: [] },
      thought_chain: { steps: [] },
    },
    parent: { is_branch: false, checkpoint_id: 'cp-0' },
    diff: { summary: 's', changes: { '/b': { after: 1 }, '/a': { after: 2, before: 1 } }, from_checkpoint_id: 'cp-0' },
    metadata: { checkpoint_reason: 'manual', duration_ms: 0, tokens_used: 0, step_number: 1 },
    labels: { z: 1, a: 1 },
    description: 'why',
    name: 'first',
    agent_id: 'coder',
    execution_id: 'run-1',
    timestamp: 5,
    id: 'cp-1',
    version: '1.0.0',
  } satisfies Checkpoint;

  it('FILE-10 has the members in a fixed order, two spaces and a newline at the end', () => {
    expect(checkpointText(small)).toBe(`{
  "version": "1.0.0",
  "id": "cp-1",
  "timestamp": 5,
  "execution_id": "run-1",
  "agent_id": "coder",
  "name": "first",
  "description": "why",
  "labels": {
    "a": 1,
    "z": 1
  },
  "metadata": {
    "step_number": 1,
    "tokens_used": 0,
    "duration_ms": 0,
    "checkpoint_reason": "manual"
  },
  "parent": {
    "checkpoint_id": "cp-0",
    "is_branch": false
  },
  "diff": {
    "from_checkpoint_id": "cp-0",
    "changes": {
      "/a": {
        "before": 1,
        "after": 2
      },
      "/b": {
        "after": 1
      }
    },
    "summary": "s"
  },
  "snapshot": {
    "thought_chain": {
      "steps": []
    },
    "context": {
      "messages": [],
      "variables": {
        "a": {
          "c": null,
          "d": []
        },
        "b": 1
      }
    },
    "tool_state": {
      "pending": [],
      "completed": []
    }
  }
}
`);
  });

  it('is read as the checkpoint that it was written from, and has the same bytes in any order of members', () => {
    fc.assert(
      fc.property(arbitrary.checkpoint, (checkpoint) => {
        const text = checkpointText(checkpoint);
        expect(readCheckpoint(JSON.parse(text))).toEqual(checkpoint);
        expect(checkpointText(arbitrary.turned(checkpoint))).toBe(text);
        expect(checkpointText(readCheckpoint(JSON.parse(text)))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('writes nothing that could not be read', () => {
    const wrong = { ...small, metadata: { ...small.metadata, step_number: -1 } };
    expect(() => checkpointText(wrong)).toThrow(/checkpoint cp-1: metadata\.step_number/);
  });
});
