// grid.tsx: a table of any length: only rows in sight are asked for and drawn.
import type {ComponentChildren} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {useSize} from './size';

/** px; as in controls.css. */
const ROW = 29;
const ROW_COARSE = 41;
/** px that a browser can scroll for certain. */
const TALLEST = 8e6;
/** Before it is known, px. */
const HEIGHT = 400;

export interface GridHeader {
  key: string;
  title: ComponentChildren;
  number: boolean;
  sorted?: 'ascending' | 'descending';
}

export interface GridRow {
  cells: ComponentChildren[];
  chosen?: boolean;
  wrong?: boolean;
  onClick?: () => void;
}

interface GridProps {
  label: string;
  headers: GridHeader[];
  total: number;
  /** null: it is on its way. */
  row: (index: number) => GridRow | null;
  onSight: (first: number, last: number) => void;
  /** Changes when the rows are others: then the first is shown. */
  topic: string;
}

export function Grid({label, headers, total, row, onSight, topic}: GridProps) {
  const host = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const height = useSize(host)[1] || HEIGHT;
  const tall = matchMedia('(pointer: coarse)').matches ? ROW_COARSE : ROW;
  const whole = Math.min(TALLEST, total * tall);
  const visible = Math.ceil(height / tall);
  const reach = Math.max(1, whole - height);
  const first = Math.max(0, Math.min(total - 1, Math.floor(whole < total * tall ? (top / reach) * Math.max(0, total - visible + 2) : top / tall) - 4));
  const last = Math.min(total - 1, first + visible + 8);
  useEffect(() => host.current!.scrollTo({top: 0}), [topic]);
  useEffect(() => onSight(first, Math.max(first, last)), [first, last]);
  const before = Math.min(top, Math.max(0, whole < total * tall ? top - 4 * tall : first * tall));
  const rows = [];
  for (let index = first; index <= last; index++) {
    const found = row(index);
    rows.push(
      found ? (
        <tr key={index} aria-rowindex={index + 2} class={`${found.onClick ? 'pick' : ''}${found.chosen ? ' marked' : ''}${found.wrong ? ' failed' : ''}`} onClick={found.onClick}>
          {found.cells.map((cell, i) => (
            <td key={i} class={headers[i]!.number ? 'number' : ''}>{cell}</td>
          ))}
        </tr>
      ) : (
        <tr key={index} aria-rowindex={index + 2}>
          <td colSpan={headers.length} class="muted">…</td>
        </tr>
      ),
    );
  }
  return (
    <div ref={host} class="scroll grid" tabIndex={0} role="group" aria-label={label} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table aria-rowcount={total + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {headers.map(({key, title, number, sorted}) => (
              <th key={key} scope="col" class={number ? 'number' : ''} aria-sort={sorted}>{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr class="space" aria-hidden="true" style={{height: `${before}px`}} />}
          {rows}
          {total > 0 && <tr class="space" aria-hidden="true" style={{height: `${Math.max(0, whole - before - rows.length * tall)}px`}} />}
        </tbody>
      </table>
    </div>
  );
}
