/** Kinds, names, fields, references, and the positions of mistakes. */
import type { MistakeCase } from './model.js';

const KINDS = ['settings', 'profile', 'agent', 'handover', 'policy'];
const AGENT = ['type', 'capabilities', 'memory_access', 'can_delegate_to', 'profile', 'offline_after', 'metadata'];
const PROFILE = [
  'description',
  'type',
  'capabilities',
  'memory_access',
  'can_delegate_to',
  'system_prompt',
  'tools',
  'llm_config',
];

export const definitions: readonly MistakeCase[] = [
  {
    title: 'a misspelled kind',
    source: 'agnet A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `agnet`: did you mean `agent`?',
        expected: KINDS,
        suggestion: 'agent',
      },
    ],
  },
  {
    title: 'a kind in the plural',
    source: 'agents A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `agents`: did you mean `agent`?',
        expected: KINDS,
        suggestion: 'agent',
      },
    ],
  },
  {
    title: 'a kind with a capital',
    source: 'Agent A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `Agent`: did you mean `agent`?',
        expected: KINDS,
        suggestion: 'agent',
      },
    ],
  },
  {
    title: 'another kind',
    source: 'team A { members: [x] }',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `team`: use settings, profile, agent, handover or policy',
        expected: KINDS,
      },
    ],
  },
  {
    title: 'no kind',
    source: 'A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `A`: use settings, profile, agent, handover or policy',
        expected: KINDS,
      },
    ],
  },
  {
    title: 'a misspelled field',
    source: 'agent A { capabilites: [x] }',
    errors: [
      {
        line: 1,
        column: 11,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'a field with a capital',
    source: 'agent A { Capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 11,
        code: 'unknown_field',
        message: 'unknown field `Capabilities` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'another field',
    source: 'agent A { capabilities: [x], colour: red }',
    errors: [
      {
        line: 1,
        column: 30,
        code: 'unknown_field',
        message:
          'unknown field `colour` of agent `A`, which has type, capabilities, memory_access, can_delegate_to, profile, offline_after and metadata',
        expected: AGENT,
      },
    ],
  },
  {
    title: 'the name of the member of the operation',
    source: 'agent A { capabilities: [x], agent_type: red }',
    errors: [
      {
        line: 1,
        column: 30,
        code: 'unknown_field',
        message: 'unknown field `agent_type` of agent `A`: did you mean `type`?',
        expected: AGENT,
        suggestion: 'type',
      },
    ],
  },
  {
    title: 'a field with a unit',
    source: 'agent A { capabilities: [x], offline_after_ms: 5000 }',
    errors: [
      {
        line: 1,
        column: 30,
        code: 'unknown_field',
        message: 'unknown field `offline_after_ms` of agent `A`: did you mean `offline_after`?',
        expected: AGENT,
        suggestion: 'offline_after',
      },
    ],
  },
  {
    title: 'a misspelled field of a block',
    source: 'settings { context_sections: [{ nam: notes }] }',
    errors: [
      {
        line: 1,
        column: 33,
        code: 'unknown_field',
        message: 'unknown field `nam` of `context_sections[0]`: did you mean `name`?',
        expected: ['name', 'priority', 'share', 'min_tokens'],
        suggestion: 'name',
      },
    ],
  },
  {
    title: 'extends as a field',
    source: 'agent A { extends: B, capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 11,
        code: 'unknown_field',
        message: '`extends` is no field: write `agent A extends Base { … }`',
        expected: AGENT,
      },
    ],
  },
  {
    title: 'no name',
    source: 'agent { capabilities: [x] }',
    errors: [{ line: 1, column: 1, code: 'missing_field', message: 'the name is missing: write `agent Name { … }`' }],
  },
  {
    title: 'no name before extends',
    source: 'agent extends B { capabilities: [x] }\nagent B { capabilities: [x] }',
    errors: [{ line: 1, column: 1, code: 'missing_field', message: 'the name is missing: write `agent Name { … }`' }],
  },
  {
    title: 'an empty name',
    source: 'agent "" { capabilities: [x] }',
    errors: [{ line: 1, column: 7, code: 'invalid_value', message: 'the name of an agent must not be empty' }],
  },
  {
    title: 'a name that is too long',
    source: `agent ${'a'.repeat(201)} { capabilities: [x] }`,
    errors: [
      { line: 1, column: 7, code: 'invalid_value', message: 'the name of an agent must have at most 200 characters' },
    ],
  },
  {
    title: 'a name that is built in',
    source: 'handover instruction {}',
    errors: [
      {
        line: 1,
        column: 10,
        code: 'invalid_value',
        message: 'handover "instruction" is built in and read-only: use another name',
      },
    ],
  },
  {
    title: 'no required field',
    source: 'agent A {}',
    errors: [{ line: 1, column: 7, code: 'missing_field', message: '`capabilities` of agent `A` is required' }],
  },
  {
    title: 'no trigger',
    source: 'policy P { actions: [summarize] }',
    errors: [{ line: 1, column: 8, code: 'missing_field', message: '`trigger` of policy `P` is required' }],
  },
  {
    title: 'no required field in a block',
    source: 'policy P { trigger { type: TurnCount } }',
    errors: [{ line: 1, column: 20, code: 'missing_field', message: '`trigger.count` is required' }],
  },
  {
    title: 'a definition twice',
    source: 'agent A { capabilities: [x] }\nagent A { capabilities: [y] }',
    errors: [
      {
        line: 2,
        column: 7,
        code: 'duplicate',
        message: 'agent `A` is already defined on line 1: rename or remove one',
      },
    ],
  },
  {
    title: 'a field twice',
    source: 'agent A {\n  capabilities: [x]\n  capabilities: [y]\n}',
    errors: [{ line: 3, column: 3, code: 'duplicate', message: '`capabilities` is already set on line 2: remove one' }],
  },
  {
    title: 'a field of a block twice',
    source: 'agent A { capabilities: [x], metadata { a: 1, a: 2 } }',
    errors: [{ line: 1, column: 47, code: 'duplicate', message: '`a` is already set on line 1: remove one' }],
  },
  {
    title: 'settings with a name',
    source: 'settings Main { retain: digest }',
    errors: [{ line: 1, column: 10, code: 'invalid_value', message: 'settings have no name: write `settings { … }`' }],
  },
  {
    title: 'settings that extend',
    source: 'settings extends Main { retain: digest }',
    errors: [
      {
        line: 1,
        column: 18,
        code: 'invalid_value',
        message: 'settings cannot extend another definition: remove `extends`',
      },
    ],
  },
  {
    title: 'settings twice',
    source: 'settings { retain: digest }\nsettings { retain: nothing }',
    errors: [
      {
        line: 2,
        column: 1,
        code: 'duplicate',
        message: 'settings are already defined on line 1: write all fields there',
      },
    ],
  },
  {
    title: 'a misspelled profile',
    source: 'agent A { capabilities: [x], profile: Codr }\nprofile Coder {}',
    errors: [
      {
        line: 1,
        column: 39,
        code: 'undefined_reference',
        message: 'no profile `Codr` is defined in this source: did you mean `Coder`?',
        suggestion: 'Coder',
      },
    ],
  },
  {
    title: 'a profile that is not defined',
    source: 'agent A { capabilities: [x], profile: Coder }',
    errors: [
      {
        line: 1,
        column: 39,
        code: 'undefined_reference',
        message: 'no profile `Coder` is defined in this source: define it, or quote the name of one outside',
      },
    ],
  },
  {
    title: 'delegates that are not defined',
    source: 'agent Writer { capabilities: [x], can_delegate_to: [Writr, Nobody] }',
    errors: [
      {
        line: 1,
        column: 53,
        code: 'undefined_reference',
        message: 'no agent, profile or type of an agent `Writr` is defined in this source: did you mean `Writer`?',
        suggestion: 'Writer',
      },
      {
        line: 1,
        column: 60,
        code: 'undefined_reference',
        message:
          'no agent, profile or type of an agent `Nobody` is defined in this source: define it, or quote the name of one outside',
      },
    ],
  },
  {
    title: 'a misspelled type of an agent',
    source: 'agent A { type: tester, capabilities: [x], can_delegate_to: [testr] }',
    errors: [
      {
        line: 1,
        column: 62,
        code: 'undefined_reference',
        message: 'no agent, profile or type of an agent `testr` is defined in this source: did you mean `tester`?',
        suggestion: 'tester',
      },
    ],
  },
  {
    title: 'a profile of a handover that is not defined',
    source: 'handover H { target_profile_config { profile_name: Coder } }',
    errors: [
      {
        line: 1,
        column: 52,
        code: 'undefined_reference',
        message: 'no profile `Coder` is defined in this source: define it, or quote the name of one outside',
      },
    ],
  },
  {
    title: 'a misspelled base',
    source: 'agent A extends Bas { capabilities: [x] }\nagent Base { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 17,
        code: 'undefined_reference',
        message: 'agent `Bas` is not defined in this source: did you mean `Base`?',
        suggestion: 'Base',
      },
    ],
  },
  {
    title: 'a base of another kind',
    source: 'agent A extends B { capabilities: [x] }\nprofile B {}',
    errors: [
      {
        line: 1,
        column: 17,
        code: 'undefined_reference',
        message: 'agent `B` is not defined in this source: define it, or remove `extends`',
      },
    ],
  },
  {
    title: 'a definition that extends itself',
    source: 'agent A extends A { capabilities: [x] }',
    errors: [{ line: 1, column: 17, code: 'circular_dependency', message: 'circular dependency: A extends A' }],
  },
  {
    title: 'two that extend each other',
    source: 'agent A extends B { capabilities: [x] }\nagent B extends A { capabilities: [x] }',
    errors: [
      { line: 1, column: 17, code: 'circular_dependency', message: 'circular dependency: A extends B extends A' },
    ],
  },
  {
    title: 'three that extend each other',
    source:
      'agent A extends B { capabilities: [x] }\nagent B extends C { capabilities: [x] }\nagent C extends A { capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 17,
        code: 'circular_dependency',
        message: 'circular dependency: A extends B extends C extends A',
      },
    ],
  },
  {
    title: 'a mistake that others inherit',
    source: 'agent A { capabilities: 5 }\nagent B extends A {}\nagent C extends A {}',
    errors: [{ line: 1, column: 25, code: 'type_mismatch', message: '`capabilities` must be a list, not a number' }],
  },
  {
    title: 'tabs',
    source: 'agent A {\n\t\tcapabilites: [x]\n}',
    errors: [
      {
        line: 2,
        column: 3,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'tabs between tokens',
    source: 'agent\tA {\tcapabilities:\t5\t}',
    errors: [{ line: 1, column: 25, code: 'type_mismatch', message: '`capabilities` must be a list, not a number' }],
  },
  {
    title: 'CRLF',
    source: 'agent A {\r\n  capabilites: [x]\r\n}\r\n',
    errors: [
      {
        line: 2,
        column: 3,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'CRLF in a text of several lines',
    source: 'profile A {\r\n  system_prompt: """\r\n    a\r\n    b\r\n    """, colour: 1\r\n}',
    errors: [
      {
        line: 5,
        column: 10,
        code: 'unknown_field',
        message:
          'unknown field `colour` of profile `A`, which has description, type, capabilities, memory_access, can_delegate_to, system_prompt, tools and llm_config',
        expected: PROFILE,
      },
    ],
  },
  {
    title: 'CR',
    source: 'agent A {\r  capabilites: [x]\r}',
    errors: [
      {
        line: 2,
        column: 3,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'a byte order mark',
    source: '\ufeffagent A { capabilites: [x] }',
    errors: [
      {
        line: 1,
        column: 11,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'emoji in a text',
    source: 'profile A { description: "🙂🙂", colour: 1 }',
    errors: [
      {
        line: 1,
        column: 34,
        code: 'unknown_field',
        message:
          'unknown field `colour` of profile `A`, which has description, type, capabilities, memory_access, can_delegate_to, system_prompt, tools and llm_config',
        expected: PROFILE,
      },
    ],
  },
  {
    title: 'emoji in a comment',
    source: '/* 🙂 */ agent A { capabilites: [x] }',
    errors: [
      {
        line: 1,
        column: 20,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `A`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
    ],
  },
  {
    title: 'several mistakes of meaning',
    source:
      '// A team\nagnet Lead { capabilities: [plan] }\nagent Coder {\n  capabilites: [write]\n  offline_after: 10\n}\nagent Coder { capabilities: write }\nprofile P { system_prompt: 5, llm_config: [] }\nsettings Main {}\nhandover H { target_profile_config { profile_name: Q } }\npolicy Daily extends Dayly { trigger { type: TurnCount, count: 0 } }\n',
    errors: [
      {
        line: 2,
        column: 1,
        code: 'unknown_kind',
        message: 'unknown kind `agnet`: did you mean `agent`?',
        expected: KINDS,
        suggestion: 'agent',
      },
      {
        line: 4,
        column: 3,
        code: 'unknown_field',
        message: 'unknown field `capabilites` of agent `Coder`: did you mean `capabilities`?',
        expected: AGENT,
        suggestion: 'capabilities',
      },
      {
        line: 5,
        column: 18,
        code: 'type_mismatch',
        message: '`offline_after` must be a duration, such as 60s',
        expected: ['a duration'],
      },
      {
        line: 7,
        column: 7,
        code: 'duplicate',
        message: 'agent `Coder` is already defined on line 3: rename or remove one',
      },
      {
        line: 8,
        column: 28,
        code: 'type_mismatch',
        message: '`system_prompt` must be text, not a number: write "5"',
        suggestion: '"5"',
      },
      { line: 8, column: 43, code: 'type_mismatch', message: '`llm_config` must be a block, not a list' },
      { line: 9, column: 10, code: 'invalid_value', message: 'settings have no name: write `settings { … }`' },
      {
        line: 10,
        column: 52,
        code: 'undefined_reference',
        message: 'no profile `Q` is defined in this source: define it, or quote the name of one outside',
      },
      {
        line: 11,
        column: 22,
        code: 'undefined_reference',
        message: 'policy `Dayly` is not defined in this source: define it, or remove `extends`',
      },
    ],
  },
  {
    title: 'several mistakes, some of syntax',
    source:
      'agent A { capabilities = [x] }\nagent B { capabilities [x] }\nagent C { capabilities: [x y] }\nagent D { capabilities: x }\nagent E { profile: Nobody, capabilities: [x] }',
    errors: [
      {
        line: 1,
        column: 24,
        code: 'syntax',
        message: 'unexpected `=`: write `:` between a field and its value',
        suggestion: ':',
      },
      {
        line: 2,
        column: 24,
        code: 'syntax',
        message: 'expected `:` behind `capabilities`, found `[`',
        expected: ['`:`'],
      },
      { line: 3, column: 28, code: 'syntax', message: 'expected `,` or `]`, found `y`', expected: ['`,`', '`]`'] },
      {
        line: 4,
        column: 25,
        code: 'type_mismatch',
        message: '`capabilities` must be a list, not `x`: write [x]',
        suggestion: '[x]',
      },
    ],
  },
];
