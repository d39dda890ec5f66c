/** The semantic difference between two checkpoints: the parent and this one, or any two. */
import type { CheckpointDiff, CheckpointNode, ExecutionTree, Json } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { textOf, words } from '../../data/format.js';
import { Status } from '../../ui/kinds.js';
import { Answer, Empty } from '../../ui/states.js';

const nameOf = ({ step_number, name, branch_reason, checkpoint_reason }: CheckpointNode): string =>
  `Step ${step_number}: ${name ?? branch_reason ?? words(checkpoint_reason)}`;

/** Elements of lists as texts: thoughts and messages have one, anything else is its JSON. */
const lines = (value: Json | undefined): readonly string[] =>
  value === undefined ? [] : (Array.isArray(value) ? value : [value]).map((one) => textOf(one));

const places: readonly (readonly [RegExp, string])[] = [
  [/^\/thought_chain\/steps/, 'Thoughts'],
  [/^\/context\/messages/, 'Messages'],
  [/^\/context\/variables/, 'Variables'],
  [/^\/tool_state\/completed/, 'Tool calls'],
];

/** Pointers that only move with what is shown anyway. */
const isNoise = (path: string): boolean => /\/(children|current_step_id|last_tool_call_id)(\/|$)/.test(path);

function Change({
  path,
  before,
  after,
}: {
  path: string;
  before: Json | undefined;
  after: Json | undefined;
}): ReactNode {
  return (
    <li className="change">
      <code className="muted tiny">{path}</code>
      {lines(before).map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one change.
        <del key={`b${index}`} className="prose">
          {text}
        </del>
      ))}
      {lines(after).map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one change.
        <ins key={`a${index}`} className="prose">
          {text}
        </ins>
      ))}
    </li>
  );
}

function Difference({ diff }: { diff: CheckpointDiff }): ReactNode {
  const changes = Object.entries(diff.changes).filter(
    ([path]) => !(isNoise(path) || (diff.tools.run.length > 0 && path.startsWith('/tool_state/completed'))),
  );
  if (changes.length === 0) return <Empty title="The states are the same" />;
  const groups = new Map<string, (typeof changes)[number][]>();
  for (const change of changes) {
    const place = places.find(([pattern]) => pattern.test(change[0]))?.[1] ?? 'Other';
    groups.set(place, [...(groups.get(place) ?? []), change]);
  }
  return (
    <div className="stack">
      <p>{diff.summary}</p>
      {diff.tools.run.length > 0 && (
        <p className="row wrap small">
          {diff.tools.run.map(({ id, tool_id, success }) => (
            <span key={id} className="row">
              <span className="mono">{tool_id}</span>
              <Status status={success ? 'ok' : 'failed'} />
            </span>
          ))}
        </p>
      )}
      {[...groups].map(([place, list]) => (
        <section key={place} className="stack tight">
          <h3>{place}</h3>
          <ul className="stack tight">
            {list.map(([path, { before, after }]) => (
              <Change key={path} path={path} before={before} after={after} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

interface Props {
  readonly tree: ExecutionTree;
  readonly checkpoint_id: string;
  readonly against: string | undefined;
}

export function Changes({ tree, checkpoint_id, against }: Props): ReactNode {
  const [, change] = useSearch();
  const node = tree.nodes.find((one) => one.checkpoint_id === checkpoint_id);
  const from = against ?? node?.parent_checkpoint_id ?? undefined;
  const diff = useCall(
    'checkpoints.diff',
    { checkpoint_id: from ?? checkpoint_id, to: checkpoint_id },
    { enabled: from !== undefined },
  );
  return (
    <div className="stack">
      <label className="row small compare-with">
        <span className="muted">Compared with</span>
        <select
          className="input"
          value={against ?? ''}
          onChange={(event) => change({ against: event.target.value || undefined })}
        >
          <option value="">the step before</option>
          {tree.nodes
            .filter((one) => one.checkpoint_id !== checkpoint_id)
            .map((one) => (
              <option key={one.checkpoint_id} value={one.checkpoint_id}>
                {nameOf(one)}
              </option>
            ))}
        </select>
      </label>
      {from === undefined ? (
        <Empty title="The first checkpoint of the run">Its state is under Whole state.</Empty>
      ) : (
        <Answer query={diff}>{(data) => <Difference diff={data} />}</Answer>
      )}
    </div>
  );
}
