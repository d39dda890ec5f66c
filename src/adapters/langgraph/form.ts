/** The form that a checkpoint of LangGraph has in Cairn: channels are variables, metadata is labels. */
import type { Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import type { Checkpoint as CairnCheckpoint, CheckpointReason, Snapshot } from '../../checkpoints/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isMarked, isRecord, setMember } from './codec.js';
import type { Image, Versions } from './images.js';

/** Labels are 64 KB at most. What is longer is in the snapshot, and its short members are still found by. */
const MAX_LABELS = 32 * 1024;
const MAX_LABEL = 1000;

/** Read at once: the caller goes on to change them. */
export function versionsOf({ v, ts, channel_versions, versions_seen }: Checkpoint): Versions {
  return JSON.parse(
    JSON.stringify({ v, ts, channel_versions: channel_versions ?? {}, versions_seen: versions_seen ?? {} }),
  ) as Versions;
}

const NO_THOUGHTS = Object.freeze({ steps: Object.freeze([]) });
const NO_TOOLS = Object.freeze({ pending: Object.freeze([]), completed: Object.freeze([]) });
const NO_MESSAGES = Object.freeze([]);

export interface Labelled {
  readonly labels: JsonObject;
  /** Metadata, where the labels do not have it all. */
  readonly metadata?: Json;
}

/** What LangGraph itself says of every checkpoint: to be found by also if a serializer hides the rest. */
const OPEN_LABELS = ['source', 'step'];

/** Whether a member of the metadata is surely in the labels, if it has this value. */
export const isLabel = (key: string, value: Json, transparent: boolean): boolean =>
  transparent ? JSON.stringify(value).length <= MAX_LABEL : OPEN_LABELS.includes(key);

/** `json` is what the serializer made of the metadata. */
export function labelled(
  metadata: Readonly<Record<string, unknown>>,
  json: Json | undefined,
  transparent: boolean,
): Labelled {
  if (json === undefined) return { labels: {} };
  const readable = transparent && isRecord(json) && !isMarked(json);
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
    // Nearly all of it changes with every step, so it is one value. Where the time of the checkpoint says what ts says,
    // it is not stored a second time.
    versions: isWritten(ts) ? others : versions,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return {
    thought_chain: NO_THOUGHTS,
    context: { messages: NO_MESSAGES, variables },
    tool_state: NO_TOOLS,
  } as unknown as Snapshot;
}

/** The time of a checkpoint in Cairn, if LangGraph's is one. */
export function timestampOf({ ts }: Versions): number | undefined {
  const timestamp = Date.parse(ts);
  return timestamp >= 0 ? timestamp : undefined;
}

function isWritten(ts: string): boolean {
  const timestamp = Date.parse(ts);
  return timestamp >= 0 && new Date(timestamp).toISOString() === ts;
}

/** Also of a snapshot that somebody else made: it has no channels then. */
export function imageOf({ id, labels, parent, snapshot, timestamp }: CairnCheckpoint): Image {
  const { channel_values, versions, metadata } = snapshot.context.variables;
  const { v, ts, channel_versions, versions_seen } = isRecord(versions) ? versions : {};
  return {
    checkpoint_id: id,
    parent_id: parent?.checkpoint_id ?? null,
    versions: {
      v: typeof v === 'number' ? v : 4,
      ts: typeof ts === 'string' ? ts : new Date(timestamp).toISOString(),
      channel_versions: (channel_versions ?? {}) as Versions['channel_versions'],
      versions_seen: (versions_seen ?? {}) as Versions['versions_seen'],
    },
    channels: new Map(Object.entries(isRecord(channel_values) ? channel_values : {})),
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
