import type { ReactNode } from 'react';
import { Page } from '../../ui/layout.js';

export const View = (): ReactNode => <Page title="lineage-view">{null}</Page>;
