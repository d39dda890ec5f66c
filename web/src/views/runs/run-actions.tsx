/** What can be done from a checkpoint: branch, restore, export. */
import type { ExecutionRecord } from 'cairndb/client';
import { Download, Ellipsis, GitBranch, Undo2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { useSession } from '../../app/session.js';
import { useChange } from '../../data/api.js';
import { Button } from '../../ui/button.js';
import { Confirm, Menu } from '../../ui/overlays.js';
import { notify } from '../../ui/toast.js';

/** Gives a file to the browser. */
function download(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function BranchDialog({ checkpoint_id, onClose }: { checkpoint_id: string; onClose: () => void }): ReactNode {
  const branch = useChange('checkpoints.branch', ['executions', 'checkpoints']);
  const [, change] = useSearch();
  const [reason, setReason] = useState('');
  const [name, setName] = useState('');
  return (
    <Confirm
      title="Branch from this step"
      action="Branch"
      isReady={reason.trim() !== ''}
      onClose={onClose}
      onConfirm={async () => {
        const made = await branch.mutateAsync({
          checkpoint_id,
          reason: reason.trim(),
          ...(name.trim() ? { name: name.trim() } : {}),
        });
        change({ step: made.id });
        notify('The run continues from the new branch');
      }}
    >
      <p className="muted">A new checkpoint with the same state. The run continues from it; what came after stays.</p>
      <label className="field">
        <span>Reason</span>
        <input
          className="input"
          value={reason}
          placeholder="try without the cache"
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Name (optional)</span>
        <input className="input" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
    </Confirm>
  );
}

export function RunActions({ run, checkpoint_id }: { run: ExecutionRecord; checkpoint_id: string }): ReactNode {
  const { api, canWrite } = useSession();
  const restore = useChange('checkpoints.restore', ['executions', 'checkpoints']);
  const [asked, setAsked] = useState<'branch' | 'restore' | undefined>();
  const close = () => setAsked(undefined);
  const exportRun = async () => {
    try {
      download(`${run.name ?? run.execution_id}.json`, await api.executions.export({ execution_id: run.execution_id }));
    } catch (error) {
      notify((error as Error).message);
    }
  };
  const items = [
    ...(canWrite
      ? [{ label: 'Restore the run to this step', icon: <Undo2 />, onSelect: () => setAsked('restore') }]
      : []),
    { label: 'Export the run as a file', icon: <Download />, onSelect: () => void exportRun() },
  ];
  return (
    <>
      {canWrite && (
        <Button onClick={() => setAsked('branch')}>
          <GitBranch />
          Branch
        </Button>
      )}
      <Menu
        trigger={
          <Button kind="quiet" className="icon" aria-label="More actions" title="More actions">
            <Ellipsis />
          </Button>
        }
        items={items}
      />
      {asked === 'branch' && <BranchDialog checkpoint_id={checkpoint_id} onClose={close} />}
      {asked === 'restore' && (
        <Confirm
          title="Restore the run to this step"
          action="Restore"
          onConfirm={() => restore.mutateAsync({ checkpoint_id })}
          onClose={close}
        >
          <p>The run continues from this checkpoint. Later checkpoints stay, on a branch of their own.</p>
        </Confirm>
      )}
    </>
  );
}
