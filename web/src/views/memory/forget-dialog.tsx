/** Forgetting: first what would go, then the receipt. */
import type { Forgotten } from 'cairndb/client';
import { type ReactNode, useEffect, useState } from 'react';
import { useChange } from '../../data/api.js';
import { queryClient } from '../../data/query-client.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/overlays.js';
import { ErrorBox, Loading } from '../../ui/states.js';
import { counted, Plan } from './forget-plan.js';
import { Receipt } from './forget-receipt.js';

interface Props {
  readonly ids: readonly string[];
  /** Before the request: from now on a read of them may be refused. */
  readonly onStart?: () => void;
  /** They are still there. */
  readonly onFail?: () => void;
  readonly onDone?: (receipt: Forgotten) => void;
  readonly onClose: () => void;
}

/** What showed the forgotten content. */
const GROUPS = ['notes', 'artifacts', 'cards', 'turns', 'search', 'memory', 'edges', 'manifests', 'erasures'] as const;

export function ForgetDialog({ ids, onStart, onFail, onDone, onClose }: Props): ReactNode {
  const preview = useChange('memory.forget', []);
  const change = useChange('memory.forget', GROUPS);
  const [copies, setCopies] = useState(false);
  const { mutate } = preview;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, for what was selected when it opened.
  useEffect(() => mutate({ ids: [...ids], dry_run: true }), []);
  const plan = preview.data;
  const receipt = change.data;
  const forget = () => {
    onStart?.();
    const settings = {
      onSuccess: (answer: Forgotten) => {
        queryClient.removeQueries({ queryKey: ['names'], type: 'inactive' });
        onDone?.(answer);
      },
      onError: () => onFail?.(),
    };
    change.mutate({ ids: [...ids], ...(copies ? { copies } : {}) }, settings);
  };
  if (receipt)
    return (
      <Dialog title="Forgotten" onClose={onClose} footer={<Button onClick={onClose}>Done</Button>}>
        <Receipt receipt={receipt} />
      </Dialog>
    );
  const label = plan ? actionOf(plan, copies) : 'Forget';
  return (
    <Dialog
      title={ids.length === 1 ? 'Forget this memory' : `Forget ${ids.length} memories`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" className="danger" disabled={!plan || change.isPending} onClick={forget}>
            {change.isPending ? 'Forgetting …' : label}
          </Button>
        </>
      }
    >
      {change.isPending ? (
        <Loading lines={5} label="Forgetting" />
      ) : plan ? (
        <Plan plan={plan} copies={copies} onCopies={setCopies} />
      ) : preview.error ? (
        <ErrorBox error={preview.error} />
      ) : (
        <Loading lines={5} label="Looking for what goes with it" />
      )}
      {change.error && <ErrorBox error={change.error} />}
    </Dialog>
  );
}

/** Such as "Forget 2 notes and 1 artifact". */
function actionOf({ erased, derived, copies }: Forgotten, withCopies: boolean): string {
  const total = [...erased, ...derived].reduce((sum, { entities }) => sum + entities, 0) + (withCopies ? copies : 0);
  const [first, ...others] = erased;
  return first && others.length === 0 && total === first.entities
    ? `Forget ${counted(first.entity_type, first.entities)}`
    : `Forget all ${total}`;
}
