/** Receipts of what was forgotten, and their verification. */
import type { ErasureReceipt } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall, useChange, usePages } from '../../data/api.js';
import { integer, words } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Panel } from '../../ui/layout.js';
import { Answer, Empty, ErrorBox } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Id, Time } from '../../ui/text.js';

type Listed = Pick<ErasureReceipt, 'erasure_id' | 'status' | 'selected_by' | 'created_at' | 'verified_at'>;

const columns: readonly Column<Listed>[] = [
  { id: 'status', label: 'Status', cell: ({ status }) => <Status status={status} /> },
  { id: 'by', label: 'Selected by', cell: ({ selected_by }) => words(selected_by) },
  { id: 'at', label: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'verified', label: 'Gone from the file', cell: ({ verified_at }) => <Time at={verified_at} /> },
  { id: 'id', label: 'Receipt', cell: ({ erasure_id }) => erasure_id && <Id id={erasure_id} /> },
];

const counts = (list: ErasureReceipt['erased']): ReactNode =>
  list.length === 0 ? (
    'nothing'
  ) : (
    <span className="row wrap">
      {list.map(({ entity_type, entities, contents }) => (
        <Kind key={entity_type} kind={entity_type}>
          {integer(entities)} {words(entity_type)}
          {contents === entities ? '' : ` (${integer(contents)} contents)`}
        </Kind>
      ))}
    </span>
  );

function Receipt({ erasure_id }: { erasure_id: string }): ReactNode {
  const receipt = useCall('erasures.show', { erasure_id });
  const verify = useChange('erasures.verify');
  return (
    <Panel
      title="Receipt"
      actions={
        <>
          <Button disabled={verify.isPending} onClick={() => verify.mutate({ erasure_id })}>
            {verify.isPending ? 'Reading back …' : 'Verify'}
          </Button>
          <CopyMenu call="erasures.show" input={{ erasure_id }} value={receipt.data} />
        </>
      }
    >
      <Answer query={receipt}>
        {(data) => (
          <div className="stack">
            <Facts
              facts={[
                ['Status', <Status key="s" status={data.status} />],
                ['Erased', counts(data.erased)],
                ['Derived from it', counts(data.derived)],
                ['Kept, also about others', integer(data.kept_shared)],
                ['Copies elsewhere', integer(data.copies)],
                ['Not covered', data.not_covered.join(', ')],
                ['Asked', <Time key="a" at={data.created_at} />],
                ['Erased at', <Time key="e" at={data.erased_at} />],
                ['Gone from the file', <Time key="v" at={data.verified_at} />],
                ['By', data.agent_id ?? (data.key_id ? `key ${data.key_id.slice(-8)}` : 'the owner of the store')],
                ['Receipt', <Id key="i" id={erasure_id} />],
              ]}
            />
            {verify.data && (
              <p className="row">
                <Status status={verify.data.verified ? 'verified' : 'failed'} />
                {integer(verify.data.checked)} read back
              </p>
            )}
            {verify.error && <ErrorBox error={verify.error} />}
          </div>
        )}
      </Answer>
    </Panel>
  );
}

export function Erasures({ chosen }: { chosen: string | undefined }): ReactNode {
  const [, change] = useSearch();
  const list = usePages('erasures.list', 'erasures', { limit: 100 });
  return (
    <>
      {chosen && <Receipt erasure_id={chosen} />}
      <Panel
        title="Erasures"
        flush
        actions={list.total !== undefined && <span className="muted small">{integer(list.total)}</span>}
      >
        <Answer query={list.query}>
          {() =>
            list.items.length === 0 ? (
              <Empty title="Nothing was forgotten yet" command="npx cairn forget --user alice --dry-run">
                Forgetting erases content in every version and copy, with what was derived from it, and leaves a receipt
                here.
              </Empty>
            ) : (
              <Table
                label="Erasures"
                columns={columns}
                rows={list.items}
                keyOf={({ erasure_id }) => String(erasure_id)}
                onOpen={({ erasure_id }) => change({ erasure: erasure_id ?? undefined })}
              />
            )
          }
        </Answer>
      </Panel>
    </>
  );
}
