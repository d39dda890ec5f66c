/** Plans a packing: the profile, cards and boxes that a recipe takes from arguments. No I/O. */
import { anyId, type Json, type JsonObject, profileName } from '../../kernel/contract.js';
import { invalid, isObject } from '../../kernel/index.js';
import type { Handover, PackRule } from '../handovers/model.js';

/** The card of an argument. */
interface PlannedCard {
  readonly arg_key: string;
  readonly content: Json;
  readonly metadata: JsonObject;
}

export interface PackingPlan {
  /** Undefined when neither the arguments nor the recipe name one. */
  readonly profile_name: string | undefined;
  readonly cards: readonly PlannedCard[];
  /** Each once, in order. */
  readonly box_ids: readonly string[];
  readonly include_parent: boolean;
  readonly instruction_last: boolean;
}

export function planPacking(handover: Handover, given: JsonObject): PackingPlan {
  const { pack_arguments = [], inherit_context = {}, instruction_last = false } = handover.context_packing_config ?? {};
  return {
    profile_name: profileOf(handover, given),
    cards: pack_arguments.filter((rule) => isObject(rule)).flatMap((rule) => cardOf(rule, given)),
    box_ids: boxesOf(inherit_context.include_boxes_from_args ?? [], given),
    include_parent: inherit_context.include_parent ?? false,
    instruction_last,
  };
}

/** The argument overrides the recipe. */
function profileOf(handover: Handover, given: JsonObject): string | undefined {
  const named = given.profile_name ?? handover.target_profile_config?.profile_name;
  if (named == null) return undefined;
  const parsed = profileName.safeParse(named);
  if (parsed.success) return parsed.data;
  throw invalid(`profile_name must be the name of a profile, not ${shown(named)}`);
}

function cardOf(rule: PackRule, given: JsonObject): PlannedCard[] {
  if (!Object.hasOwn(given, rule.arg_key)) return [];
  const value = given[rule.arg_key]!;
  const type = rule.as_card_type ?? 'task.instruction';
  const content = type === 'task.result_fields' ? fieldsOf(rule.arg_key, value) : contentOf(value);
  return [{ arg_key: rule.arg_key, content, metadata: { role: 'user', ...rule.card_metadata, type } }];
}

/** Objects and lists stay JSON; any other value becomes text. */
const contentOf = (value: Json): Json => (typeof value === 'object' && value !== null ? value : String(value));

/** A field may be given by its name alone. The card type checks the rest. */
function fieldsOf(arg_key: string, value: Json): Json {
  if (!Array.isArray(value)) {
    throw invalid(
      `arguments.${arg_key} becomes a task.result_fields card, so it must be a list of fields, not ${shown(value)}`,
    );
  }
  return value.map((field) => (typeof field === 'string' ? { name: field } : field));
}

function boxesOf(names: readonly string[], given: JsonObject): string[] {
  const ids = names
    .filter((name) => Object.hasOwn(given, name))
    .flatMap((name) => {
      const value = given[name]!;
      return Array.isArray(value) ? value.map((one, i) => boxIdOf(`${name}[${i}]`, one)) : [boxIdOf(name, value)];
    });
  return [...new Set(ids)];
}

function boxIdOf(name: string, value: Json): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  const parsed = anyId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid(`arguments.${name} must be a box_id, or a list of them, not ${shown(value)}`);
}

const shown = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};
