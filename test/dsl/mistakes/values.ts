/** Types, numbers, durations, limits and enumerations. */
import type { MistakeCase } from './model.js';

const UNITS = ['ms', 's', 'm', 'h', 'd'];
const LIFETIMES = [
  'Persistent',
  'Permanent',
  'Session',
  'Scope',
  'Ephemeral',
  'ShortTerm',
  'MediumTerm',
  'LongTerm',
  'a duration',
];
const TRIGGERS = ['DosageThreshold', 'ScopeClose', 'TurnCount', 'ArtifactCount', 'Manual'];

export const values: readonly MistakeCase[] = [
  {
    title: 'a number for text',
    source: 'profile A { system_prompt: 5 }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'type_mismatch',
        message: '`system_prompt` must be text, not a number: write "5"',
        suggestion: '"5"',
      },
    ],
  },
  {
    title: 'true for text',
    source: 'profile A { description: true }',
    errors: [
      {
        line: 1,
        column: 26,
        code: 'type_mismatch',
        message: '`description` must be text, not `true`: write "true"',
        suggestion: '"true"',
      },
    ],
  },
  {
    title: 'a block for text',
    source: 'profile A { description { a: 1 } }',
    errors: [{ line: 1, column: 25, code: 'type_mismatch', message: '`description` must be text, not a block' }],
  },
  {
    title: 'a list for text',
    source: 'profile A { description: ["a"] }',
    errors: [{ line: 1, column: 26, code: 'type_mismatch', message: '`description` must be text, not a list' }],
  },
  {
    title: 'a bare word for prose',
    source: 'profile A { system_prompt: Hello }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'type_mismatch',
        message: '`system_prompt` must be a quoted text: write "Hello"',
        suggestion: '"Hello"',
      },
    ],
  },
  {
    title: 'text for a list',
    source: 'agent A { capabilities: "x" }',
    errors: [
      {
        line: 1,
        column: 25,
        code: 'type_mismatch',
        message: '`capabilities` must be a list, not text: write ["x"]',
        suggestion: '["x"]',
      },
    ],
  },
  {
    title: 'a word for a list',
    source: 'agent A { capabilities: x }',
    errors: [
      {
        line: 1,
        column: 25,
        code: 'type_mismatch',
        message: '`capabilities` must be a list, not `x`: write [x]',
        suggestion: '[x]',
      },
    ],
  },
  {
    title: 'a block for a list',
    source: 'agent A { capabilities { x: 1 } }',
    errors: [{ line: 1, column: 24, code: 'type_mismatch', message: '`capabilities` must be a list, not a block' }],
  },
  {
    title: 'a list for a block',
    source: 'profile A { llm_config: [1] }',
    errors: [{ line: 1, column: 25, code: 'type_mismatch', message: '`llm_config` must be a block, not a list' }],
  },
  {
    title: 'text for a number',
    source: 'policy P { trigger { type: TurnCount, count: "3" } }',
    errors: [
      {
        line: 1,
        column: 46,
        code: 'type_mismatch',
        message: '`trigger.count` must be a number, not text: write 3',
        suggestion: '3',
      },
    ],
  },
  {
    title: 'text for a fraction',
    source: 'settings { context_sections: [{ name: notes, share: "0.5" }] }',
    errors: [
      {
        line: 1,
        column: 53,
        code: 'type_mismatch',
        message: '`context_sections[0].share` must be a number, not text: write 0.5',
        suggestion: '0.5',
      },
    ],
  },
  {
    title: 'a duration for a number',
    source: 'policy P { trigger { type: TurnCount, count: 3d } }',
    errors: [
      { line: 1, column: 46, code: 'type_mismatch', message: '`trigger.count` must be a number, not a duration' },
    ],
  },
  {
    title: 'a number for true or false',
    source: 'handover H { context_packing_config { instruction_last: 1 } }',
    errors: [
      {
        line: 1,
        column: 57,
        code: 'type_mismatch',
        message: '`context_packing_config.instruction_last` must be true or false, not a number',
      },
    ],
  },
  {
    title: 'text for true or false',
    source: 'handover H { context_packing_config { instruction_last: "true" } }',
    errors: [
      {
        line: 1,
        column: 57,
        code: 'type_mismatch',
        message: '`context_packing_config.instruction_last` must be true or false, not text: write true',
        suggestion: 'true',
      },
    ],
  },
  {
    title: 'yes for true',
    source: 'handover H { context_packing_config { instruction_last: yes } }',
    errors: [
      {
        line: 1,
        column: 57,
        code: 'type_mismatch',
        message: '`context_packing_config.instruction_last` must be true or false, not `yes`: write true',
        suggestion: 'true',
      },
    ],
  },
  {
    title: 'a number in a list of texts',
    source: 'agent A { capabilities: [x, 5] }',
    errors: [
      {
        line: 1,
        column: 29,
        code: 'type_mismatch',
        message: '`capabilities[1]` must be text, not a number: write "5"',
        suggestion: '"5"',
      },
    ],
  },
  {
    title: 'a number for a duration',
    source: 'agent A { capabilities: [x], offline_after: 5000 }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'type_mismatch',
        message: '`offline_after` must be a duration, such as 60s',
        expected: ['a duration'],
        suggestion: '5000ms',
      },
    ],
  },
  {
    title: 'a number for a duration that is not in milliseconds',
    source: 'agent A { capabilities: [x], offline_after: 10 }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'type_mismatch',
        message: '`offline_after` must be a duration, such as 60s',
        expected: ['a duration'],
      },
    ],
  },
  {
    title: 'a lifetime beyond the limits',
    source: 'settings { artifact_ttls { ErrorLog: 0s, Plan: 40000d } }',
    errors: [
      { line: 1, column: 38, code: 'invalid_value', message: '`artifact_ttls.ErrorLog` must be at least 1ms' },
      { line: 1, column: 48, code: 'invalid_value', message: '`artifact_ttls.Plan` must be at most 36500d' },
    ],
  },
  {
    title: 'no map of lifetimes',
    source: 'settings { artifact_ttls: 5 }',
    errors: [{ line: 1, column: 27, code: 'type_mismatch', message: '`artifact_ttls` must be a block, not a number' }],
  },
  {
    title: 'a list for a name',
    source: 'settings { retain: [digest] }',
    errors: [{ line: 1, column: 20, code: 'type_mismatch', message: '`retain` must be digest or nothing, not a list' }],
  },
  {
    title: 'null for rights',
    source: 'agent A { capabilities: [x], memory_access: null }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'type_mismatch',
        message: '`memory_access` must be none, own, own_trajectory, all or a block, not null',
      },
    ],
  },
  {
    title: 'a list for rights',
    source: 'agent A { capabilities: [x], memory_access: [Note] }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'type_mismatch',
        message: '`memory_access` must be none, own, own_trajectory, all or a block, not a list',
      },
    ],
  },
  {
    title: 'a scope for the rules of all types',
    source: 'agent A { capabilities: [x], memory_access { read: all } }',
    errors: [
      {
        line: 1,
        column: 52,
        code: 'type_mismatch',
        message: '`memory_access.read` must be rules by type, such as { *: all }, not `all`',
        suggestion: '{ *: all }',
      },
    ],
  },
  {
    title: 'a word for the rules of all types',
    source: 'agent A { capabilities: [x], memory_access { write: nothing } }',
    errors: [
      {
        line: 1,
        column: 53,
        code: 'type_mismatch',
        message: '`memory_access.write` must be rules by type, such as { Note: all }, not `nothing`',
      },
    ],
  },
  {
    title: 'text for a duration',
    source: 'agent A { capabilities: [x], offline_after: "5m" }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'type_mismatch',
        message: '`offline_after` must be a duration, such as 60s',
        expected: ['a duration'],
        suggestion: '5m',
      },
    ],
  },
  {
    title: 'weeks',
    source: 'agent A { capabilities: [x], offline_after: 10weeks }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `10weeks`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
        suggestion: '70d',
      },
    ],
  },
  {
    title: 'a fraction of hours',
    source: 'agent A { capabilities: [x], offline_after: 1.5h }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `1.5h`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
        suggestion: '90m',
      },
    ],
  },
  {
    title: 'a duration below zero',
    source: 'agent A { capabilities: [x], offline_after: -3d }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `-3d`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
      },
    ],
  },
  {
    title: 'a unit in capitals',
    source: 'agent A { capabilities: [x], offline_after: 5M }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `5M`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
      },
    ],
  },
  {
    title: 'a unit that is spelled out',
    source: 'agent A { capabilities: [x], offline_after: 5min }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `5min`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
        suggestion: '5m',
      },
    ],
  },
  {
    title: 'two units',
    source: 'agent A { capabilities: [x], offline_after: 1h30m }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'invalid duration `1h30m`: write digits and a unit (ms, s, m, h or d), such as 10s or 3d',
        expected: UNITS,
      },
    ],
  },
  {
    title: 'a space before the unit',
    source: 'agent A { capabilities: [x], offline_after: 5 m }',
    errors: [
      {
        line: 1,
        column: 49,
        code: 'syntax',
        message: 'expected `:` behind `m`, found `}`: write 5m without a space',
        expected: ['`:`'],
      },
    ],
  },
  {
    title: 'a duration that is too long to count',
    source: 'agent A { capabilities: [x], offline_after: 999999999999d }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_duration',
        message: 'the duration 999999999999d is too long: the longest is 104249991d',
      },
    ],
  },
  {
    title: 'a duration below the limit',
    source: 'agent A { capabilities: [x], offline_after: 1ms }',
    errors: [{ line: 1, column: 45, code: 'invalid_value', message: '`offline_after` must be at least 1s' }],
  },
  {
    title: 'a duration above the limit',
    source: 'agent A { capabilities: [x], offline_after: 9000d }',
    errors: [{ line: 1, column: 45, code: 'invalid_value', message: '`offline_after` must be at most 7d' }],
  },
  {
    title: 'a count below the limit',
    source: 'policy P { trigger { type: TurnCount, count: 0 } }',
    errors: [{ line: 1, column: 46, code: 'invalid_value', message: '`trigger.count` must be at least 1' }],
  },
  {
    title: 'a share above the limit',
    source: 'settings { context_sections: [{ name: notes, priority: 95, share: 2 }] }',
    errors: [{ line: 1, column: 67, code: 'invalid_value', message: '`context_sections[0].share` must be at most 1' }],
  },
  {
    title: 'a fraction for a whole number',
    source: 'settings { context_sections: [{ name: notes, priority: 1.5, share: 0.1 }] }',
    errors: [
      {
        line: 1,
        column: 56,
        code: 'type_mismatch',
        message: '`context_sections[0].priority` must be a whole number, not a fraction',
      },
    ],
  },
  {
    title: 'an empty list',
    source: 'agent A { capabilities: [] }',
    errors: [{ line: 1, column: 25, code: 'invalid_value', message: '`capabilities` must not be empty' }],
  },
  {
    title: 'a leading zero',
    source: 'policy P { trigger { type: TurnCount, count: 01 } }',
    errors: [
      {
        line: 1,
        column: 46,
        code: 'invalid_value',
        message: 'invalid number `01`: write digits, such as 10, -3 or 0.5',
        suggestion: '1',
      },
    ],
  },
  {
    title: 'a plus sign',
    source: 'policy P { trigger { type: TurnCount, count: +1 } }',
    errors: [{ line: 1, column: 46, code: 'syntax', message: 'unexpected `+`: write a number as 5 or -5' }],
  },
  {
    title: 'no digit before the point',
    source: 'settings { context_sections: [{ name: notes, priority: 1, share: .5 }] }',
    errors: [
      { line: 1, column: 66, code: 'syntax', message: 'unexpected `.`: write a digit before the point, such as 0.5' },
    ],
  },
  {
    title: 'underscores in a number',
    source: 'policy P { trigger { type: TurnCount, count: 1_000 } }',
    errors: [
      {
        line: 1,
        column: 46,
        code: 'invalid_value',
        message: 'invalid number `1_000`: write digits, such as 10, -3 or 0.5',
        suggestion: '1000',
      },
    ],
  },
  {
    title: 'commas in a number',
    source: 'policy P { trigger { type: TurnCount, count: 1,000 } }',
    errors: [
      {
        line: 1,
        column: 48,
        code: 'syntax',
        message: 'expected a field or `}`, found `000`: write a number without commas',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'another base',
    source: 'policy P { trigger { type: TurnCount, count: 0x10 } }',
    errors: [
      {
        line: 1,
        column: 46,
        code: 'invalid_value',
        message: 'invalid number `0x10`: write digits, such as 10, -3 or 0.5',
      },
    ],
  },
  {
    title: 'a percent sign',
    source: 'settings { context_sections: [{ name: notes, priority: 1, share: 50% }] }',
    errors: [
      { line: 1, column: 68, code: 'syntax', message: 'unexpected `%`: remove it, or quote the text that has it' },
    ],
  },
  {
    title: 'too many digits',
    source: 'agent A { capabilities: [x], metadata { id: 12345678901234567890 } }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_value',
        message: 'the number 12345678901234567890 has too many digits to be stored exactly: quote it',
      },
    ],
  },
  {
    title: 'a number that is too large',
    source: 'agent A { capabilities: [x], metadata { id: 1e999 } }',
    errors: [{ line: 1, column: 45, code: 'invalid_value', message: 'the number 1e999 is too large: quote it' }],
  },
  {
    title: 'a date without quotes',
    source: 'agent A { capabilities: [x], metadata { since: 2026-01-31 } }',
    errors: [
      {
        line: 1,
        column: 52,
        code: 'syntax',
        message: 'expected a field or `}`, found `-01`',
        expected: ['a field', '`}`'],
      },
    ],
  },
  {
    title: 'a misspelled enumeration value',
    source: 'settings { retain: digst }',
    errors: [
      {
        line: 1,
        column: 20,
        code: 'invalid_value',
        message: '`retain` must be digest or nothing',
        expected: ['digest', 'nothing'],
        suggestion: 'digest',
      },
    ],
  },
  {
    title: 'another enumeration value',
    source: 'settings { retain: all }',
    errors: [
      {
        line: 1,
        column: 20,
        code: 'invalid_value',
        message: '`retain` must be digest or nothing',
        expected: ['digest', 'nothing'],
      },
    ],
  },
  {
    title: 'a misspelled lifetime',
    source: 'settings { artifact_ttls { ErrorLog: Persistant } }',
    errors: [
      {
        line: 1,
        column: 38,
        code: 'invalid_value',
        message:
          '`artifact_ttls.ErrorLog` must be Persistent, Permanent, Session, Scope, Ephemeral, ShortTerm, MediumTerm, LongTerm or a duration such as 7d',
        expected: LIFETIMES,
        suggestion: 'Persistent',
      },
    ],
  },
  {
    title: 'a lifetime without a unit',
    source: 'settings { artifact_ttls { ErrorLog: 7 } }',
    errors: [
      {
        line: 1,
        column: 38,
        code: 'invalid_value',
        message:
          '`artifact_ttls.ErrorLog` must be Persistent, Permanent, Session, Scope, Ephemeral, ShortTerm, MediumTerm, LongTerm or a duration such as 7d',
        expected: LIFETIMES,
      },
    ],
  },
  {
    title: 'another memory access',
    source: 'agent A { capabilities: [x], memory_access: everything }',
    errors: [
      {
        line: 1,
        column: 45,
        code: 'invalid_value',
        message: '`memory_access` must be none, own, own_trajectory or all',
        expected: ['none', 'own', 'own_trajectory', 'all'],
      },
    ],
  },
  {
    title: 'another scope of a rule',
    source: 'agent A { capabilities: [x], memory_access { read { Note: everyone } } }',
    errors: [
      {
        line: 1,
        column: 59,
        code: 'invalid_value',
        message: '`memory_access.read.Note.scope` must be own, own_trajectory or all',
        expected: ['own', 'own_trajectory', 'all'],
      },
    ],
  },
  {
    title: 'a misspelled type of memory',
    source: 'agent A { capabilities: [x], memory_access { read { Noet: all }, write: [] } }',
    errors: [
      {
        line: 1,
        column: 53,
        code: 'invalid_value',
        message: '`memory_access.read.Noet.memory_type` must be Turn, Artifact, Note, Card, Packet, Checkpoint or *',
        expected: ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint', '*'],
        suggestion: 'Note',
      },
    ],
  },
  {
    title: 'a misspelled action',
    source: 'policy P { trigger { type: Manual }, actions: [summarise] }',
    errors: [
      {
        line: 1,
        column: 48,
        code: 'invalid_value',
        message: '`actions[0]` must be summarize or extract',
        expected: ['summarize', 'extract'],
        suggestion: 'summarize',
      },
    ],
  },
  {
    title: 'a misspelled trigger',
    source: 'policy P { trigger { type: TurnCont, count: 3 } }',
    errors: [
      {
        line: 1,
        column: 28,
        code: 'invalid_value',
        message: '`trigger.type` must be DosageThreshold, ScopeClose, TurnCount, ArtifactCount or Manual',
        expected: TRIGGERS,
        suggestion: 'TurnCount',
      },
    ],
  },
  {
    title: 'no type of a trigger',
    source: 'policy P { trigger { count: 3 } }',
    errors: [
      {
        line: 1,
        column: 20,
        code: 'missing_field',
        message:
          '`trigger.type` is required and must be DosageThreshold, ScopeClose, TurnCount, ArtifactCount or Manual',
        expected: TRIGGERS,
      },
    ],
  },
  {
    title: 'null for an optional field',
    source: 'agent A { capabilities: [x], type: null }',
    errors: [{ line: 1, column: 36, code: 'type_mismatch', message: '`type` must not be null: leave it out' }],
  },
  {
    title: 'null for a required field',
    source: 'agent A { capabilities: null }',
    errors: [{ line: 1, column: 25, code: 'type_mismatch', message: '`capabilities` must be a list, not null' }],
  },
  {
    title: 'null in a list',
    source: 'agent A { capabilities: [x, null] }',
    errors: [{ line: 1, column: 29, code: 'type_mismatch', message: '`capabilities[1]` must be text, not null' }],
  },
  {
    title: 'bare words in free JSON',
    source: 'agent A { capabilities: [x], metadata { team: a, on: True } }',
    errors: [
      {
        line: 1,
        column: 47,
        code: 'type_mismatch',
        message: '`metadata.team` must be a quoted text: write "a"',
        suggestion: '"a"',
      },
      {
        line: 1,
        column: 54,
        code: 'type_mismatch',
        message: '`metadata.on` must be true or a quoted text, not `True`',
        suggestion: 'true',
      },
    ],
  },
  {
    title: 'a duration in free JSON',
    source: 'agent A { capabilities: [x], metadata { wait: 3d } }',
    errors: [
      {
        line: 1,
        column: 47,
        code: 'type_mismatch',
        message: '`metadata.wait` must not be a duration: write a number or a quoted text',
      },
    ],
  },
  {
    title: 'fields that do not fit together',
    source: 'policy P { trigger { type: Manual }, source_level: L1, actions: [extract] }',
    errors: [
      {
        line: 1,
        column: 52,
        code: 'invalid_value',
        message: '`source_level` must be L0 for the action extract: facts are extracted from turns',
      },
    ],
  },
];
