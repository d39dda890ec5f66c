/** Turns as a chat. A short scope is loaded whole; of a long one the newest turns, or all from the beginning. */
import type { Json, Scope, Turn } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall, usePages } from '../../data/api.js';
import { integer, textOf } from '../../data/format.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity, Time } from '../../ui/text.js';

const TAIL = 300;

const listOf = (value: unknown): readonly Json[] =>
  value === null || value === undefined ? [] : Array.isArray(value) ? (value as Json[]) : [value as Json];

/** A tool call or result in one line; its JSON unfolds. */
function Folded({ label, value }: { label: string; value: Json }): ReactNode {
  return (
    <details className="tool">
      <summary className="mono small">{label}</summary>
      <JsonTree value={value} />
    </details>
  );
}

function callName(call: Json): string {
  const { function: called, name } = (call ?? {}) as {
    function?: { name?: string; arguments?: string };
    name?: string;
  };
  const given = called?.arguments ?? '';
  return `${called?.name ?? name ?? 'tool'}(${given.length > 80 ? `${given.slice(0, 80)}…` : given})`;
}

function resultName(result: Json): string {
  const { content } = (result ?? {}) as { content?: unknown };
  const text = textOf(content ?? result).replace(/\s+/g, ' ');
  return `→ ${text.length > 100 ? `${text.slice(0, 100)}…` : text}`;
}

function Bubble({ turn, isChosen }: { turn: Turn; isChosen: boolean }): ReactNode {
  const speaker = (turn.metadata as { speaker?: unknown }).speaker;
  const text = textOf(turn.content);
  return (
    <article className={`bubble ${turn.role.toLowerCase()} ${isChosen ? 'chosen' : ''}`}>
      <header className="row small">
        <strong>{typeof speaker === 'string' ? speaker : turn.role}</strong>
        <span className="muted">
          <Time at={turn.created_at} />
        </span>
        <span className="grow" />
        <span className="faint tiny">{integer(turn.token_count)} tokens</span>
        <Entity type="Turn" id={turn.turn_id}>
          <span className="tiny">#{turn.sequence}</span>
        </Entity>
      </header>
      {text && <p className="prose">{text}</p>}
      {listOf(turn.tool_calls).map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a turn never change.
        <Folded key={index} label={callName(call)} value={call} />
      ))}
      {listOf(turn.tool_results).map((result, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the results of a turn never change.
        <Folded key={index} label={resultName(result)} value={result} />
      ))}
    </article>
  );
}

/** The index of a turn, if it is among those that are loaded. */
function indexOf(turns: readonly Turn[], turn_id: string | undefined): number | undefined {
  const index = turn_id === undefined ? -1 : turns.findIndex((turn) => turn.turn_id === turn_id);
  return index < 0 ? undefined : index;
}

const closedText = 'Its turns were erased when it closed. What it left is in the task: digest, summaries, artifacts.';

export function Chat({ scope, chosen }: { scope: Scope; chosen: string | undefined }): ReactNode {
  const { scope_id, turns: count } = scope;
  const [search, change] = useSearch();
  const isLong = count > TAIL;
  const whole = isLong && search.from === 'start';
  const tail = useCall('scopes.turns', { scope_id, tail: TAIL }, { enabled: scope.is_active && !whole });
  const pages = usePages(
    'scopes.turns',
    'turns',
    { scope_id, limit: 200, order: 'asc' },
    { enabled: scope.is_active && whole },
  );
  if (!scope.is_active) return <Empty title="This scope is closed">{closedText}</Empty>;
  const items = whole ? pages.items : (tail.data?.turns ?? []);
  return (
    <>
      {isLong && (
        <div className="chat-bar">
          <Segmented
            label="Turns"
            options={[
              ['end', `Newest ${TAIL}`],
              ['start', 'From the beginning'],
            ]}
            value={whole ? 'start' : 'end'}
            onChange={(from) => change({ from: from === 'start' ? 'start' : undefined })}
          />
        </div>
      )}
      <Answer query={whole ? pages.query : tail}>
        {() =>
          items.length === 0 ? (
            <Empty
              title="No turn yet"
              command={`npx cairn turns add --scope-id ${scope_id} --role User --content "…"`}
            />
          ) : (
            <VirtualList
              key={whole ? 'start' : 'end'}
              label="Turns"
              items={items}
              keyOf={({ turn_id }) => turn_id}
              estimate={92}
              onEnd={whole ? pages.loadMore : undefined}
              follow={!whole}
              reveal={indexOf(items, chosen)}
              height="calc(100dvh - 22rem)"
              render={(turn) => <Bubble turn={turn} isChosen={turn.turn_id === chosen} />}
            />
          )
        }
      </Answer>
    </>
  );
}
