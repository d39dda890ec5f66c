import type { ReactNode } from 'react';
import { Empty } from '../ui/states.js';

export const NotFound = (): ReactNode => (
  <div className="page">
    <Empty title="There is nothing at this address">Press / to search, or choose a view beside.</Empty>
  </div>
);
