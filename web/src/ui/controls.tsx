// controls.tsx: the few controls that all pages are made of.
import type {ComponentChildren} from 'preact';
import {Icon} from './icon';
import type {IconName} from './icon';

interface ButtonProps {
  icon?: IconName;
  label: string;
  /** Shown beside the icon; without it the label is a tooltip and the accessible name. */
  text?: string;
  pressed?: boolean;
  disabled?: boolean;
  kind?: 'plain' | 'primary' | 'danger' | 'ghost';
  shortcut?: string;
  onClick: () => void;
}

export function Button({icon, label, text, pressed, disabled, kind = 'ghost', shortcut, onClick}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind}${text ? '' : ' square'}`}
      aria-label={text === label ? undefined : label}
      aria-pressed={pressed}
      title={shortcut ? `${label} (${shortcut})` : text === label ? undefined : label}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {text && <span>{text}</span>}
    </button>
  );
}

interface SegmentedProps<T extends string> {
  label: string;
  options: readonly {value: T; text: string; icon?: IconName; title?: string}[];
  value: T;
  onChange: (value: T) => void;
}

/** One choice out of few: radio buttons in a row. */
export function Segmented<T extends string>({label, options, value, onChange}: SegmentedProps<T>) {
  const name = `segmented-${label.replace(/\W+/g, '-')}`;
  return (
    <div class="segmented" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>
            {option.icon && <Icon name={option.icon} size={16} />}
            {option.text}
          </span>
        </label>
      ))}
    </div>
  );
}

interface SwitchProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

export function Switch({label, checked, onChange}: SwitchProps) {
  return (
    <label class="switch">
      <input type="checkbox" role="switch" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  children: ComponentChildren;
}

export function Field({label, hint, children}: FieldProps) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      {children}
      {hint && <span class="hint">{hint}</span>}
    </label>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}

/** What stands where there is nothing yet: says what would be here and how to get it. */
export function Empty({icon, title, children}: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

export function Panel({title, actions, children, class: extra = ''}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section class={`panel ${extra}`} aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {actions && <div class="panel-actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
