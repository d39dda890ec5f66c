/** The mark: a pile of stones. */
import type { ReactNode } from 'react';

export const Mark = (): ReactNode => (
  <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
    <ellipse cx="16" cy="26" rx="12" ry="4.6" fill="currentColor" opacity="0.55" />
    <ellipse cx="16.6" cy="17.6" rx="8.6" ry="3.9" fill="currentColor" opacity="0.7" />
    <ellipse cx="15.6" cy="10.2" rx="5.6" ry="3.2" fill="currentColor" opacity="0.85" />
    <ellipse cx="16.4" cy="4.4" rx="3" ry="2.2" fill="var(--kind-note)" />
  </svg>
);
