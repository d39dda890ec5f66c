/** Buttons: a word or an icon with a name. */
import type { ButtonHTMLAttributes, ReactNode } from 'react';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'quiet' | 'danger' | undefined;
}

export const Button = ({ kind, className = '', type = 'button', ...rest }: Props): ReactNode => (
  <button type={type} className={`button ${kind ?? ''} ${className}`} {...rest} />
);

interface IconProps extends Props {
  readonly label: string;
}

/** An icon alone: its label is read out and shown on hover. */
export const IconButton = ({ label, kind = 'quiet', className = '', ...rest }: IconProps): ReactNode => (
  <Button kind={kind} className={`icon ${className}`} aria-label={label} title={label} {...rest} />
);
