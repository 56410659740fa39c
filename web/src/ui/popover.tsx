// popover.tsx: a button that opens a few controls beside it; Escape and a click elsewhere close them.
import type {ComponentChildren} from 'preact';
import {useEffect, useRef} from 'preact/hooks';
import {Icon} from './icon';
import type {IconName} from './icon';

interface PopoverProps {
  label: string;
  icon?: IconName;
  /** Shown in the button; without it the label is a tooltip and the accessible name. */
  text?: ComponentChildren;
  /** Which edge of the button it keeps to. */
  align?: 'left' | 'right';
  class?: string;
  children: ComponentChildren;
}

const GAP = 4; // px

/** Below the button, or above it where there is more room, and all of it on the page; a list that scrolls doesn't cut it off. */
function place(details: HTMLDetailsElement, align: 'left' | 'right'): void {
  const button = details.querySelector('summary')!.getBoundingClientRect();
  const body = details.querySelector<HTMLElement>('.popover-body')!;
  const {width, height} = body.getBoundingClientRect();
  const left = align === 'left' ? button.left : button.right - width;
  const below = button.bottom + GAP + height <= innerHeight || button.top < innerHeight - button.bottom;
  body.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
  body.style.top = `${Math.max(GAP, below ? Math.min(button.bottom + GAP, innerHeight - height - GAP) : button.top - GAP - height)}px`;
}

export function Popover({label, icon, text, align = 'right', class: extra = '', children}: PopoverProps) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const onOutside = (event: Event) => {
      const details = element.current;
      if (details?.open && !(event.target instanceof Node && details.contains(event.target))) details.open = false;
    };
    document.addEventListener('pointerdown', onOutside);
    document.addEventListener('scroll', onOutside, true);
    return () => {
      document.removeEventListener('pointerdown', onOutside);
      document.removeEventListener('scroll', onOutside, true);
    };
  }, []);
  const onKey = (event: KeyboardEvent) => {
    const details = element.current!;
    if (event.key !== 'Escape' || !details.open) return;
    event.stopPropagation();
    event.preventDefault();
    details.open = false;
    details.querySelector('summary')!.focus();
  };
  return (
    <details ref={element} class={`popover ${align} ${extra}`} onKeyDown={onKey} onToggle={() => element.current!.open && place(element.current!, align)}>
      <summary class={`button ghost${text ? '' : ' square'}`} aria-label={label} title={label}>
        {icon && <Icon name={icon} />}
        {text && <span>{text}</span>}
      </summary>
      <div class="popover-body">{children}</div>
    </details>
  );
}
