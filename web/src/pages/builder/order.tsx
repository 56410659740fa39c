// order.tsx: one array of a wire: names in the order of the message, which hands drag, and keys and buttons move.
import {signal} from '@preact/signals';
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {formatValue} from '../../format';
import {Button} from '../../ui/controls';
import {Icon} from '../../ui/icon';
import {Name} from '../../ui/name';
import {NumberField} from '../../ui/typed';
import type {ArrayKind, Entry} from './wiring';
import {entryOf, moved} from './wiring';

/** What is being dragged: an entry of an array, or a name from the list beside it. */
interface Dragged {
  name: string;
  incoming: boolean;
  from: {array: string; index: number} | null;
}
export const dragged = signal<Dragged | null>(null);

export function startDrag(event: DragEvent, what: Dragged): void {
  dragged.value = what;
  event.dataTransfer?.setData('text/plain', what.name);
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
}

export const endDrag = () => (dragged.value = null);

/** What of a row moves it by a press. */
type Part = 'handle' | 'up' | 'down';

interface RowProps {
  kind: ArrayKind;
  entry: Entry;
  index: number;
  last: boolean;
  /** SI unit of what it names; null: nothing of this name is known. */
  si: string | null;
  units: string[];
  line: boolean;
  change: (entry: Entry) => void;
  /** Before the entry that stands at `to`; `by`: what of the row was pressed. */
  move: (to: number, by: Part) => void;
  remove: () => void;
}

function Row({kind, entry, index, last, si, units, line, change, move, remove}: RowProps) {
  const {name, unit, scale, offset} = entry;
  const place = `${index + 1} of ${kind.title}: ${name}`;
  const known = si !== null || kind.extra.includes(name);
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (!by || !event.altKey || index + by < 0 || (by > 0 && last)) return;
    event.preventDefault();
    move(by < 0 ? index - 1 : index + 2, 'handle');
  };
  return (
    <li class={`order-row${line ? ' before' : ''}${known ? '' : ' unknown'}`} data-entry={name} onKeyDown={onKey}>
      <button
        type="button"
        class="order-handle"
        draggable
        title="Drag it to its place, or Alt+↑ and Alt+↓"
        aria-label={`Move ${place}`}
        onDragStart={(event) => startDrag(event, {name, incoming: kind.incoming, from: {array: kind.key, index}})}
        onDragEnd={endDrag}
      >
        <Icon name="grip" size={14} />
        <b>{index + 1}</b>
      </button>
      <span class="order-name" title={known ? (kind.bytes ? `${name}, from byte ${kind.bytes * index}` : name) : `There is no ${kind.incoming ? 'command' : 'signal'} of this name`}><Name text={name} /></span>
      {name === 'none' || name === 'stamp' ? (
        <span class="order-fixed muted">{name === 'none' ? (kind.incoming ? 'ignored' : 'always 0') : 'any number that grows'}</span>
      ) : (
        <>
          <select aria-label={`Unit of ${place}`} value={unit} disabled={!units.length && !unit} onChange={(event) => change({...entry, unit: event.currentTarget.value})}>
            <option value="">{si === '1' || (known && !si) ? '–' : si || '?'}</option>
            {unit && !units.includes(unit) && <option value={unit}>{unit}</option>}
            {units.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
          <Button label={`Sign of ${place}`} text={scale < 0 ? '−' : '+'} pressed={scale < 0} kind="plain" onClick={() => change({...entry, scale: -scale})} />
          <NumberField label={`Scale of ${place}`} value={Math.abs(scale)} nonzero onChange={(value) => change({...entry, scale: value * Math.sign(scale)})} />
          {offset !== 0 && <span class="order-offset muted" title="The offset, as the file has it">{offset > 0 ? '+' : ''}{formatValue(offset)}</span>}
        </>
      )}
      <span class="order-tools">
        <Button icon="up" label={`Up: ${place}`} disabled={index === 0} onClick={() => move(index - 1, 'up')} />
        <Button icon="down" label={`Down: ${place}`} disabled={last} onClick={() => move(index + 2, 'down')} />
        <Button icon="close" label={`Remove ${place}`} onClick={remove} />
      </span>
    </li>
  );
}

interface OrderProps {
  kind: ArrayKind;
  entries: Entry[];
  siOf: (name: string) => string | null;
  unitsOf: (si: string) => string[];
  set: (entries: Entry[]) => void;
}

/** What was pressed in the row that stands somewhere now; its handle, where that can't be pressed any more. */
function partOf(row: Element | undefined, part: Part): HTMLElement | null {
  const [up, down] = row?.querySelectorAll<HTMLButtonElement>('.order-tools button') ?? [];
  const pressed = {handle: undefined, up, down}[part];
  const seen = pressed && !pressed.disabled && pressed.offsetParent !== null;
  return seen ? pressed : (row?.querySelector<HTMLElement>('.order-handle') ?? null);
}

/** Half of the rows above a point, so that what is dropped comes before the row whose upper half it is over. */
function placeUnder(list: HTMLElement, clientY: number): number {
  const rows = [...list.children].filter((row) => row.classList.contains('order-row'));
  const at = rows.findIndex((row) => {
    const {top, height} = row.getBoundingClientRect();
    return clientY < top + height / 2;
  });
  return at < 0 ? rows.length : at;
}

export function Order({kind, entries, siOf, unitsOf, set}: OrderProps) {
  const list = useRef<HTMLOListElement>(null);
  const [target, setTarget] = useState(-1);
  const moving = useRef<{to: number; part: Part} | null>(null); // the row that somebody moves by presses
  // It is drawn anew where it stands now. The focus goes there at once: by the next picture somebody may be elsewhere.
  useLayoutEffect(() => {
    if (moving.current) partOf(list.current!.children[moving.current.to], moving.current.part)?.focus();
    moving.current = null;
  });
  const fits = dragged.value !== null && (dragged.value.incoming === kind.incoming || dragged.value.name === 'none');
  const full = entries.length >= kind.most;
  const drop = (place: number) => {
    const what = dragged.peek();
    if (!what) return;
    if (what.from?.array === kind.key) set(moved(entries, what.from.index, place));
    else if (!full) set([...entries.slice(0, place), entryOf(what.name), ...entries.slice(place)]);
    endDrag();
  };
  return (
    <section
      class={`order${fits ? ' fits' : ''}`}
      aria-label={kind.title}
      onDragOver={(event) => {
        if (!fits) return;
        event.preventDefault();
        setTarget(placeUnder(list.current!, event.clientY));
      }}
      onDragLeave={(event) => event.currentTarget.contains(event.relatedTarget as Node | null) || setTarget(-1)}
      onDrop={(event) => {
        event.preventDefault();
        drop(placeUnder(list.current!, event.clientY));
        setTarget(-1);
      }}
    >
      <header>
        <h3>{kind.title}</h3>
        <span class="muted">
          {entries.length === 1 ? '1 number' : `${entries.length} numbers`}{kind.bytes ? `, ${kind.bytes * entries.length} bytes` : ''}{full ? ', full' : ''}
        </span>
      </header>
      <ol ref={list} class={target === entries.length && entries.length ? 'after' : ''}>
        {entries.map((entry, i) => {
          const si = siOf(entry.name);
          return (
            <Row
              key={`${i} ${entry.name}`}
              kind={kind}
              entry={entry}
              index={i}
              last={i === entries.length - 1}
              si={si}
              units={si === null ? [] : unitsOf(si)}
              line={target === i}
              change={(changed) => set(entries.map((one, k) => (k === i ? changed : one)))}
              move={(to, part) => {
                moving.current = {to: to > i ? to - 1 : to, part};
                set(moved(entries, i, to));
              }}
              remove={() => set(entries.filter((_, k) => k !== i))}
            />
          );
        })}
        {!entries.length && <li class="order-empty muted">Drag {kind.incoming ? 'commands' : 'signals'} here, or press + beside them.</li>}
      </ol>
    </section>
  );
}
