/** A checkpoint of LangGraph in Cairn: channels are variables, metadata is labels. */
import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import type { Checkpoint as CairnCheckpoint, CheckpointReason, Snapshot } from '../../checkpoints/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { isMarked, setMember } from './codec.js';
import type { Image, Versions } from './images.js';

/** Labels are limited to 64 KB. Longer metadata goes into the snapshot; its short members are still labels. */
const MAX_LABELS = 32 * 1024;
const MAX_LABEL = 1000;

/** A copy: the caller changes them later. */
export const versionsOf = ({ v, ts, channel_versions: channels, versions_seen: seen }: Checkpoint): Versions =>
  JSON.parse(JSON.stringify({ v, ts, channel_versions: channels ?? {}, versions_seen: seen ?? {} })) as Versions;

const NO_THOUGHTS = Object.freeze({ steps: Object.freeze([]) });
const NO_TOOLS = Object.freeze({ pending: Object.freeze([]), completed: Object.freeze([]) });
const NO_MESSAGES = Object.freeze([]);

export interface Labelled {
  readonly labels: JsonObject;
  /** The metadata, unless the labels have all of it. */
  readonly metadata?: Json;
}

/** Members that LangGraph sets on every checkpoint: labels even if a serializer hides the rest. */
const OPEN_LABELS = ['source', 'step'];

/** Whether a metadata member with this value is certainly a label. */
export const isLabel = (key: string, value: Json, transparent: boolean): boolean =>
  transparent ? JSON.stringify(value).length <= MAX_LABEL : OPEN_LABELS.includes(key);

export function labelled(
  metadata: Readonly<Record<string, unknown>>,
  json: Json | undefined,
  transparent: boolean,
): Labelled {
  if (json === undefined) return { labels: {} };
  const readable = transparent && isObject(json) && !isMarked(json);
  if (readable && JSON.stringify(json).length <= MAX_LABELS) return { labels: json };
  const labels: JsonObject = {};
  const open = readable ? json : openLabels(metadata);
  for (const [key, value] of Object.entries(open))
    if (JSON.stringify(value).length <= MAX_LABEL && JSON.stringify(labels).length <= MAX_LABELS)
      setMember(labels, key, value);
  return { labels, metadata: json };
}

function openLabels(metadata: Readonly<Record<string, unknown>>): JsonObject {
  const found = OPEN_LABELS.map((key) => [key, metadata[key]] as const);
  return Object.fromEntries(found.filter(([, value]) => ['string', 'number'].includes(typeof value))) as JsonObject;
}

export function toSnapshot(versions: Versions, channels: ReadonlyMap<string, Json>, { metadata }: Labelled): Snapshot {
  const channel_values: JsonObject = {};
  for (const [channel, json] of channels) setMember(channel_values, channel, json);
  const { ts, ...others } = versions;
  const variables = {
    channel_values,
    // One value, since nearly all of it changes with every step. The time of the checkpoint replaces an equal ts.
    versions: isTimestamp(ts) ? others : versions,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return {
    thought_chain: NO_THOUGHTS,
    context: { messages: NO_MESSAGES, variables },
    tool_state: NO_TOOLS,
  } as unknown as Snapshot;
}

/** The time of a checkpoint in Cairn; undefined if `ts` is not a time. */
export function timestampOf(ts: string): number | undefined {
  const timestamp = Date.parse(ts);
  return timestamp >= 0 ? timestamp : undefined;
}

function isTimestamp(ts: string): boolean {
  const timestamp = timestampOf(ts);
  return timestamp !== undefined && new Date(timestamp).toISOString() === ts;
}

/** The image of any checkpoint; one that LangGraph did not create has no channels. */
export function imageOf({ id, labels, parent, snapshot, timestamp }: CairnCheckpoint): Image {
  const { channel_values, versions, metadata } = snapshot.context.variables;
  const { v, ts, channel_versions, versions_seen } = isObject(versions) ? versions : {};
  return {
    checkpoint_id: id,
    parent_id: parent?.checkpoint_id ?? null,
    versions: {
      v: typeof v === 'number' ? v : 4,
      ts: typeof ts === 'string' ? ts : new Date(timestamp).toISOString(),
      channel_versions: (channel_versions ?? {}) as Versions['channel_versions'],
      versions_seen: (versions_seen ?? {}) as Versions['versions_seen'],
    },
    channels: new Map(Object.entries(isObject(channel_values) ? channel_values : {})),
    metadata: metadata ?? labels ?? {},
  };
}

export function measuresOf({ source, step }: Partial<CheckpointMetadata>): {
  step_number: number;
  checkpoint_reason: CheckpointReason;
} {
  return {
    step_number: Number.isInteger(step) ? Math.max(0, step!) : 0,
    checkpoint_reason: source === 'update' || source === 'fork' ? 'manual' : 'step_complete',
  };
}
