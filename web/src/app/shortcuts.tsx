/** The keys, on `?`. */
import type { ReactNode } from 'react';
import { Facts } from '../ui/layout.js';
import { Dialog } from '../ui/overlays.js';
import { navigation } from './views.js';

export const Shortcuts = ({ onClose }: { onClose: () => void }): ReactNode => (
  <Dialog title="Keyboard" onClose={onClose}>
    <Facts
      facts={[
        ['Search, or go anywhere', <kbd key="k">/</kbd>],
        ...navigation.map(
          ({ label, key }) =>
            [
              label,
              <span key={key} className="row">
                <kbd>g</kbd>
                <kbd>{key}</kbd>
              </span>,
            ] as const,
        ),
        ['These keys', <kbd key="h">?</kbd>],
      ]}
    />
  </Dialog>
);
