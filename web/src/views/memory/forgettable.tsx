/** A page of one memory that can be forgotten: once that began, nothing on it is read any more. */
import type { Forgotten } from 'cairndb/client';
import { Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../ui/button.js';
import { Page, Panel } from '../../ui/layout.js';
import { Loading } from '../../ui/states.js';
import { ForgetDialog } from './forget-dialog.js';
import { Receipt } from './forget-receipt.js';

interface Props {
  readonly id: string;
  /** `forget` is the button; nothing for a reader who may not. */
  readonly children: (forget: ReactNode) => ReactNode;
}

export function Forgettable({ id, children }: Props): ReactNode {
  const { canWrite } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [stage, setStage] = useState<'kept' | 'going' | Forgotten>('kept');
  const button = canWrite && (
    <Button kind="danger" onClick={() => setIsOpen(true)}>
      <Trash2 />
      Forget
    </Button>
  );
  return (
    <>
      {stage === 'kept' ? (
        children(button)
      ) : stage === 'going' ? (
        <Page title="Forgetting">
          <Loading lines={6} />
        </Page>
      ) : (
        <Page title="A forgotten memory" about="Its content is erased in every version and copy.">
          <Panel title="Receipt">
            <div className="stack">
              <Receipt receipt={stage} />
            </div>
          </Panel>
        </Page>
      )}
      {isOpen && (
        <ForgetDialog
          ids={[id]}
          onStart={() => setStage('going')}
          onFail={() => setStage('kept')}
          onDone={(receipt) => {
            setStage(receipt);
            setIsOpen(false);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}
