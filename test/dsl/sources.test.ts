import { expect, it } from 'vitest';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const CODER = 'agent Coder { capabilities: [write_code] }';

const EVERYTHING = `// A team
settings {
  retain: digest
  artifact_ttls { ErrorLog: 7d, *: Persistent }
}

profile Coder {
  system_prompt: """
    You write code.
      Indented.
    """
  tools: [{ name: "look", input_schema: { type: "object" } }]
  llm_config { temperature: 0.5 }
}

agent Lead extends Worker {
  can_delegate_to: [Coder, "someone outside", *]
}

agent Worker { # all agents have these
  type: worker
  capabilities: [write_code, "review code"]
  profile: Coder
  offline_after: 5m
  memory_access {
    read { Note: all, Artifact: own_trajectory }
    write: []
  }
  metadata { team: "a", size: 3, open: true, lead: null }
}

handover Review {
  target_profile_config { profile_name: Coder }
  context_packing_config {
    pack_arguments: [{ arg_key: instruction, as_card_type: task.instruction }]
    inherit_context { include_boxes_from_args: [input_box_ids], include_parent: true }
    instruction_last: true
  }
}

policy Daily {
  trigger { type: TurnCount, count: 20 }
  actions: [summarize, extract]
}
`;

type Errors = readonly { readonly line: number; readonly column: number; readonly code: string }[];
const placesOf = (errors: Errors) => errors.map(({ line, column, code }) => `${line}:${column} ${code}`);

onEveryTarget('sources', (test) => {
  it('DSL-1 an agent with capabilities is valid, and its tree has positions', async () => {
    const answer = await test().cairn.dsl.validate({ source: CODER });
    const at = (column: number) => ({ line: 1, column });
    const item = { type: 'name', value: 'write_code', ...at(30) };
    expect(answer).toEqual({
      valid: true,
      errors: [],
      ast: {
        comments: [],
        definitions: [
          {
            kind: 'agent',
            name: 'Coder',
            extends: null,
            fields: [{ name: 'capabilities', value: { type: 'list', items: [item], ...at(29) }, ...at(15) }],
            ...at(1),
          },
        ],
      },
    });
  });

  it('DSL-1 every construct is valid, and so is a source of comments alone', async () => {
    const { cairn } = test();
    expect(await cairn.dsl.validate({ source: EVERYTHING })).toMatchObject({ valid: true, errors: [] });
    expect(await cairn.dsl.validate({ source: '# nothing yet' })).toMatchObject({
      valid: true,
      ast: { definitions: [], comments: [{ text: '# nothing yet', line: 1, column: 1 }] },
    });
  });

  it.each(['', ' \n\t'])('DSL-1 a blank source is refused: %j', async (source) => {
    for (const verb of ['validate', 'parse', 'format'] as const)
      expect(await refusalOf(test().cairn.dsl[verb]({ source }))).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
  });

  it('DSL-2, DSL-3 several mistakes are found in one pass, ordered by position', async () => {
    const source = `agnet A { capabilities: [x] }
agent B { capabilites: [x], offline_after: 10weeks }
agent C { capabilities: x profile: Codr }
agent C { capabilities: [x] }
profile Coder { system_prompt: 5 }
policy P { trigger { type: TurnCount, count: 0 } }
agent D extends D { capabilities: [x] }
agent E {}
`;
    const { valid, errors } = await test().cairn.dsl.validate({ source });
    expect(valid).toBe(false);
    expect(placesOf(errors)).toEqual([
      '1:1 unknown_kind',
      '2:44 invalid_duration',
      '3:25 type_mismatch',
      '4:7 duplicate',
      '5:32 type_mismatch',
      '6:46 invalid_value',
      '7:17 circular_dependency',
      '8:7 missing_field',
    ]);
    expect(errors[0]).toMatchObject({ suggestion: 'agent', message: 'unknown kind `agnet`: did you mean `agent`?' });
    const whole = await test().cairn.dsl.validate({ source: source.replace('10weeks', '10s') });
    expect(placesOf(whole.errors)).toContain('3:36 undefined_reference');
    expect(placesOf(whole.errors)).toContain('2:11 unknown_field');
    expect(placesOf(errors)).not.toContain('3:36 undefined_reference');
  });

  it('DSL-2 at most 100 mistakes are reported', async () => {
    const source = 'agent A { capabilities: }\n'.repeat(300);
    expect((await test().cairn.dsl.validate({ source })).errors).toHaveLength(100);
    const unknown = Array.from({ length: 300 }, (_, i) => `agent A${i} { capabilities: 1 }`).join('\n');
    expect((await test().cairn.dsl.validate({ source: unknown })).errors).toHaveLength(100);
  });

  it('DSL-4 fields, enumerations and limits are those of the operations', async () => {
    const messageOf = async (source: string) =>
      (await test().cairn.dsl.validate({ source })).errors.map((e) => e.message);
    expect(await messageOf('agent A { capabilities: [] }')).toHaveLength(1);
    expect(await messageOf('agent A { capabilities: [x], offline_after: 1ms }')).toHaveLength(1);
    expect(await messageOf('settings { retain: DIGEST }')).toEqual([]);
    expect(await messageOf('settings { retain: all }')).toEqual(['`retain` must be digest or nothing']);
    expect(await messageOf('settings { note_ttls { Fact: Scope } }')).toEqual([
      '`note_ttls.Fact` must not be Scope or Ephemeral: a note is in no scope',
    ]);
    expect(await messageOf('policy P { trigger { type: Manual }, source_level: L1, actions: [extract] }')).toEqual([
      '`source_level` must be L0 for the action extract: facts are extracted from turns',
    ]);
    expect(await messageOf('handover instruction {}')).toEqual([
      'handover "instruction" is built in and read-only: use another name',
    ]);
  });

  it('DSL-5 a bare name must be defined in the source, a quoted one need not', async () => {
    const valid = async (field: string) =>
      (
        await test().cairn.dsl.validate({
          source: `agent A { capabilities: [x] ${field} }\nagent B { type: tester, capabilities: [x] }\nprofile P {}`,
        })
      ).valid;
    expect(await valid('profile: P')).toBe(true);
    expect(await valid('profile: Q')).toBe(false);
    expect(await valid('profile: B')).toBe(false);
    expect(await valid('profile: "Q"')).toBe(true);
    expect(await valid('can_delegate_to: [A, B, P, tester, *]')).toBe(true);
    expect(await valid('can_delegate_to: [C]')).toBe(false);
    expect(await valid('can_delegate_to: ["C"]')).toBe(true);
  });

  it('DSL-6 a definition takes over fields of another; a circle is refused, delegation in a circle is not', async () => {
    const { cairn } = test();
    const extending = 'agent A extends B {}\nagent B { capabilities: [x] can_delegate_to: [A, B] }';
    expect(await cairn.dsl.validate({ source: extending })).toMatchObject({ valid: true });
    const circle = 'profile A extends B {}\nprofile B extends C {}\nprofile C extends A {}\nprofile D extends A {}';
    expect((await cairn.dsl.validate({ source: circle })).errors).toMatchObject([
      {
        line: 1,
        column: 19,
        code: 'circular_dependency',
        message: 'circular dependency: A extends B extends C extends A',
      },
    ]);
    const other = 'agent A extends B { capabilities: [x] }\nprofile B {}';
    expect(placesOf((await cairn.dsl.validate({ source: other })).errors)).toEqual(['1:17 undefined_reference']);
  });

  it('DSL-7 parse finds syntax errors only, and has no tree then', async () => {
    const { cairn } = test();
    expect(await cairn.dsl.parse({ source: 'agnet A { x: Missing }' })).toMatchObject({
      valid: true,
      ast: { definitions: [{ kind: 'agnet', name: 'A' }] },
    });
    expect(await cairn.dsl.parse({ source: 'agent A { x: }' })).toEqual({
      valid: false,
      errors: [{ line: 1, column: 14, code: 'syntax', message: 'expected a value, found `}`', expected: ['a value'] }],
      ast: null,
    });
  });

  it('DSL-8 depth, tokens, definitions and size are limited', async () => {
    const { cairn } = test();
    const errorsOf = async (source: string) => placesOf((await cairn.dsl.validate({ source })).errors);
    expect(await errorsOf(`agent A { x: ${'['.repeat(100_000)}`)).toEqual(['1:85 limit']);
    expect(await errorsOf(`profile A { llm_config { x: ${'['.repeat(62)}${']'.repeat(62)} } }`)).toEqual([]);
    expect(await errorsOf(`agent A { capabilities: [${'a,'.repeat(10_000)}] }`)).toEqual(['1:20020 limit']);
    const many = Array.from({ length: 1001 }, (_, i) => `profile P${i} {}`).join('\n');
    expect(await errorsOf(many)).toEqual(['1001:1 limit']);
    expect(await errorsOf('#\n'.repeat(200_000))).toEqual([]);
    expect(await errorsOf(`${'#\n'.repeat(199_999)}agent A`)).toEqual(['200000:7 limit']);
    expect(await refusalOf(cairn.dsl.validate({ source: '#'.repeat(1024 * 1024 + 1) }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  it('DSL-8 long sources at once are answered like one', async () => {
    const { cairn } = test();
    const source = (i: number) => `${'#\n'.repeat(40_000)}agnet A${i} {}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        i === 3 ? cairn.dsl.format({ source: source(i) }) : cairn.dsl.validate({ source: source(i) }),
      ).map((one) => one.then((answer) => ('source' in answer ? answer.source.length : placesOf(answer.errors)))),
    );
    expect(answers).toEqual(
      Array.from({ length: 8 }, (_, i) => (i === 3 ? expect.any(Number) : ['40001:1 unknown_kind'])),
    );
  });

  it('DSL-9 the canonical form is stable, means the same and keeps comments', async () => {
    const { cairn } = test();
    const { source, changed } = await cairn.dsl.format({ source: EVERYTHING });
    expect(changed).toBe(true);
    expect(await cairn.dsl.format({ source })).toEqual({ source, changed: false });
    expect(source).toContain('agent Worker {\n  # all agents have these\n');
    expect(source).toContain('  offline_after: 5m\n');
    const broken = await refusalOf(cairn.dsl.format({ source: 'agent A {' }));
    expect(broken).toMatchObject({ code: 'INVALID_SOURCE', status: 400 });
    expect(broken.details).toMatchObject({ errors: [{ line: 1, column: 10, code: 'syntax' }] });
  });
});
