/** "Copy as": what a view shows, as JSON, as curl or as TypeScript. */
import { Braces, Code, Copy, SquareTerminal } from 'lucide-react';
import type { ReactNode } from 'react';
import { useSession } from '../app/session.js';
import type { InputOf, Operation } from '../data/api.js';
import { curlOf, typescriptOf } from '../data/as-code.js';
import { Button } from './button.js';
import { Menu } from './overlays.js';
import { copyText } from './states.js';
import { notify } from './toast.js';

interface Props<N extends Operation> {
  readonly call: N;
  readonly input: InputOf<N>;
  readonly value: unknown;
}

export function CopyMenu<N extends Operation>({ call, input, value }: Props<N>): ReactNode {
  const { hasKey, who } = useSession();
  const copy = (text: string, what: string) => async () => {
    await copyText(text);
    notify(`Copied as ${what}`);
  };
  const given = input as Record<string, unknown>;
  const items = [
    { label: 'JSON', icon: <Braces />, onSelect: copy(JSON.stringify(value, null, 2), 'JSON') },
    {
      label: 'curl',
      icon: <SquareTerminal />,
      onSelect: copy(curlOf(call, given, { origin: location.origin, hasKey, tenant: who.tenant_id }), 'curl'),
    },
    { label: 'TypeScript', icon: <Code />, onSelect: copy(typescriptOf(call, given), 'TypeScript') },
  ];
  return (
    <Menu
      trigger={
        <Button kind="quiet">
          <Copy />
          Copy as
        </Button>
      }
      items={items.map((item) => ({ ...item, onSelect: () => void item.onSelect() }))}
    />
  );
}
