/** Dialogs and menus: the browser's own dialog, Radix' menu. */
import { X } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from './button.js';
import { ErrorBox } from './states.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly footer?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Open as long as it is rendered. Escape and a click beside it close it. */
export function Dialog({ title, onClose, footer, className = '', children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="dialog-head">
        <h2>{title}</h2>
        <IconButton label="Close" onClick={onClose}>
          <X />
        </IconButton>
      </div>
      <div className="dialog-body">{children}</div>
      {footer && <div className="dialog-foot">{footer}</div>}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What the button does: "Forget 3 memories". */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isReady?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before a change; stays open with the error if it fails. */
export function Confirm({
  title,
  action,
  isDanger = false,
  isReady = true,
  onConfirm,
  onClose,
  children,
}: ConfirmProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            className={isDanger ? 'danger' : ''}
            disabled={busy || !isReady}
            onClick={() => void confirm()}
          >
            {busy ? 'Working …' : action}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && <ErrorBox error={error} />}
    </Dialog>
  );
}

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly onSelect: () => void;
}

export function Menu({ trigger, items }: { trigger: ReactNode; items: readonly MenuItem[] }): ReactNode {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {items.map(({ label, icon, onSelect }) => (
            <DropdownMenu.Item key={label} className="menu-item" onSelect={onSelect}>
              {icon}
              {label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
