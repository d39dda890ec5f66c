/** What somebody may do about a memory that is wrong, besides forgetting it. */
import { CalendarX, PencilLine } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../ui/button.js';
import { CorrectDialog } from './correct-dialog.js';
import type { Version } from './history.js';
import { OutdateDialog } from './outdate-dialog.js';

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
  readonly current: Version;
}

export function MemoryActions({ type, id, current }: Props): ReactNode {
  const { canWrite } = useSession();
  const [open, setOpen] = useState<'correct' | 'outdate' | undefined>();
  if (!canWrite) return null;
  const close = () => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen('correct')}>
        <PencilLine />
        Correct
      </Button>
      <Button onClick={() => setOpen('outdate')}>
        <CalendarX />
        Mark outdated
      </Button>
      {open === 'correct' && <CorrectDialog type={type} id={id} current={current} onClose={close} />}
      {open === 'outdate' && <OutdateDialog type={type} id={id} current={current} onClose={close} />}
    </>
  );
}
