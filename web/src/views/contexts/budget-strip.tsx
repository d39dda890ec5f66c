/** The budget of a context as one bar, with a legend of tokens and shares. */
import type { CSSProperties, ReactNode } from 'react';
import { integer, percent } from '../../data/format.js';
import { Bar } from '../../ui/gauges.js';
import type { Budget } from './budget.js';

const share = (tokens: number, whole: number): string =>
  tokens > 0 && tokens / whole < 0.005 ? '< 1 %' : percent(tokens, whole);

/** Fewer parts stand together at the left. */
const FEW = 7;

export function BudgetStrip({ budget }: { budget: Budget }): ReactNode {
  const { parts, used, limit } = budget;
  const whole = Math.max(1, limit ?? used ?? parts.reduce((sum, { tokens }) => sum + tokens, 0));
  // Joined texts may take less than their parts, which are counted alone: the bar shows the whole.
  const counted = parts.reduce((sum, { id, tokens }) => (id === 'unused' ? sum : sum + tokens), 0);
  const scale = used !== null && counted > used ? used / counted : 1;
  return (
    <section className="panel budget" aria-label="Budget">
      <p className="budget-total">
        <b>{integer(used)}</b>
        <span className="muted">
          {used === null
            ? 'tokens are not counted for a box this large'
            : limit === null
              ? 'tokens'
              : `of ${integer(limit)} tokens`}
        </span>
      </p>
      <Bar
        label="Tokens by section"
        parts={parts
          .filter(({ id }) => id !== 'unused')
          .map((part) => ({ ...part, value: Math.round(part.tokens * scale) }))}
        max={whole}
      />
      <ul className={`budget-legend ${parts.length < FEW ? 'few' : ''}`} aria-label="Tokens and shares by section">
        {parts.map(({ id, label, tokens, color, about }) => (
          <li key={id} className={tokens === 0 ? 'none' : ''} title={about}>
            <span className="budget-name">
              <i className={`dot ${id}`} style={{ '--c': color } as CSSProperties} />
              {label}
            </span>
            <span className="budget-value">
              <b>{integer(tokens)}</b>
              <span className="muted">{share(id === 'unused' ? tokens : tokens * scale, whole)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
