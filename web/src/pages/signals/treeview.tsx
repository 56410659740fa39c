// treeview.tsx: the tree of all signals, with values that live: arrows move and unfold, Enter or a click plots, dragging too.
import {signal} from '@preact/signals';
import {useEffect, useMemo, useRef} from 'preact/hooks';
import {shownUnit} from '../../format';
import {want} from '../../live/samples';
import {shownModel} from '../../live/moment';
import {displayUnit} from '../../live/units';
import {stored} from '../../settings';
import {Icon} from '../../ui/icon';
import {plots, plotted, toggleTrace} from './plots';
import {buildTree, visibleRows} from './tree';
import type {Row} from './tree';
import {LiveValue} from './value';

const MOST_ROWS = 400;
/** Paths that somebody folded or unfolded. */
const toggled = stored<string[]>('tree', []);
const search = signal('');
const focused = signal('');

function toggle(path: string): void {
  toggled.value = toggled.value.includes(path) ? toggled.value.filter((kept) => kept !== path) : [...toggled.value, path];
}

function act(row: Row): void {
  if (row.children.length) toggle(row.path);
  else toggleTrace(row.name);
}

/** As the ARIA practices for trees have it. */
function onKey(event: KeyboardEvent, rows: Row[]): void {
  const at = Math.max(0, rows.findIndex(({path}) => path === focused.value));
  const row = rows[at];
  if (!row) return;
  let to = at;
  if (event.key === 'ArrowDown') to = Math.min(rows.length - 1, at + 1);
  else if (event.key === 'ArrowUp') to = Math.max(0, at - 1);
  else if (event.key === 'Home') to = 0;
  else if (event.key === 'End') to = rows.length - 1;
  else if (event.key === 'ArrowRight') row.children.length && !row.open ? toggle(row.path) : (to = Math.min(rows.length - 1, at + 1));
  else if (event.key === 'ArrowLeft') {
    if (row.open) toggle(row.path);
    else while (to > 0 && rows[to]!.depth >= row.depth) to--;
  } else if (event.key === 'Enter' || event.key === ' ') act(row);
  else return;
  event.preventDefault();
  focused.value = rows[to]!.path;
  (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=treeitem]')[to]?.focus();
}

/** The colour of the trace, where the signal is plotted. */
function traceOf(name: string): number {
  for (const {traces} of plots.value) {
    const found = traces.find((trace) => trace.name === name);
    if (found) return found.colour;
  }
  return 0;
}

function TreeRow({row, first}: {row: Row; first: boolean}) {
  const trace = row.name ? traceOf(row.name) : 0;
  return (
    <li
      role="treeitem"
      class={`row${row.name ? ' leaf' : ''}`}
      data-depth={row.depth}
      data-signal={(!row.shortcut && row.name) || undefined}
      data-shortcut={row.shortcut ? row.label : undefined}
      tabIndex={focused.value === row.path || first ? 0 : -1}
      aria-level={row.depth + 1}
      aria-expanded={row.children.length ? row.open : undefined}
      aria-selected={row.name ? trace > 0 : undefined}
      draggable={!!row.name}
      title={row.name || undefined}
      onDragStart={(event) => event.dataTransfer?.setData('text/plain', row.name)}
      onFocus={() => (focused.value = row.path)}
      onClick={() => act(row)}
    >
      {row.children.length ? <Icon name="chevron" size={14} /> : <i class={`swatch trace-${trace}`} />}
      <span class="row-label">{row.label}</span>
      {row.name && (
        <>
          <LiveValue name={row.name} class="row-value" />
          <span class="unit">{shownUnit(displayUnit(row.unit))}</span>
        </>
      )}
      {row.children.length > 0 && <span class="count">{row.children.length}</span>}
    </li>
  );
}

export function TreeView() {
  const field = useRef<HTMLInputElement>(null);
  const tree = useMemo(() => (shownModel.value ? buildTree(shownModel.value) : []), [shownModel.value]);
  const fixed = tree.find(({hidden}) => hidden)?.children.length ?? 0;
  const rows = visibleRows(tree, new Set(toggled.value), search.value, MOST_ROWS);
  const names = rows.flatMap(({name}) => (name ? [name] : []));
  useEffect(() => want(names, false), [names.join('\n')]);
  useEffect(() => {
    const onSlash = (event: KeyboardEvent) => {
      if (event.key !== '/' || document.activeElement instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onSlash);
    return () => removeEventListener('keydown', onSlash);
  }, []);
  const inTree = rows.some(({path}) => path === focused.value);
  return (
    <section class="tree" aria-label="Signals and commands">
      <div class="search">
        <Icon name="search" size={16} />
        <input
          ref={field}
          type="search"
          aria-label="Search signals"
          placeholder={`Search ${shownModel.value?.signals.length ?? 0} signals  /`}
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && ((search.value = ''), event.stopPropagation())}
        />
      </div>
      <ul role="tree" aria-label="Signals" aria-multiselectable="true" onKeyDown={(event) => onKey(event, rows)}>
        {rows.map((row, i) => (
          <TreeRow key={row.path} row={row} first={!inTree && i === 0} />
        ))}
      </ul>
      {!rows.length && <p class="muted none">No signal has all of these words.</p>}
      {rows.length >= MOST_ROWS && <p class="muted none">Only the first {MOST_ROWS} are shown: search for more.</p>}
      <p class="tree-foot muted">
        {plotted.value.length} plotted{fixed > 0 && <> · {fixed} {fixed === 1 ? 'body' : 'bodies'} that cannot move: search finds them</>}
      </p>
    </section>
  );
}
