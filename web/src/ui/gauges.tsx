/** How full something is, and what fills it. */
import type { CSSProperties, ReactNode } from 'react';
import { integer } from '../data/format.js';

interface GaugeProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** A fraction of the maximum that is marked by a line. */
  readonly threshold?: number | undefined;
}

export function Gauge({ label, value, max, threshold }: GaugeProps): ReactNode {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  const color = share >= 1 ? 'var(--bad)' : share >= (threshold ?? 0.8) ? 'var(--warn)' : 'var(--accent)';
  return (
    <div
      className="gauge"
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={max}
      title={`${integer(value)} of ${integer(max)}`}
      style={{ '--c': color } as CSSProperties}
    >
      <i style={{ width: `${share * 100}%` }} />
      {threshold !== undefined && <u style={{ left: `${threshold * 100}%` }} />}
    </div>
  );
}

export interface Part {
  readonly label: string;
  readonly value: number;
  readonly color: string;
}

/** Parts of a whole in one bar; what is left stays empty. */
export function Bar({ label, parts, max }: { label: string; parts: readonly Part[]; max: number }): ReactNode {
  return (
    <div
      className="bar"
      role="img"
      aria-label={`${label}: ${parts.map((part) => `${part.label} ${part.value}`).join(', ')}`}
    >
      {parts
        .filter(({ value }) => value > 0)
        .map((part) => (
          <i
            key={part.label}
            title={`${part.label}: ${integer(part.value)}`}
            style={{ width: `${(part.value / Math.max(1, max)) * 100}%`, '--c': part.color } as CSSProperties}
          />
        ))}
    </div>
  );
}
