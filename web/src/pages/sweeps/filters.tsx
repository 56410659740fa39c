// filters.tsx: conditions that hold, each with a cross, and a form for another.
import {useState} from 'preact/hooks';
import {Button, Segmented} from '../../ui/controls';
import {usePopover} from '../../ui/popovers';
import {replaced, tell, write} from './conditions';
import type {Condition} from './conditions';
import {change, state} from './state';
import type {Column, Sweep} from './types';

const KINDS = {same: 'is', other: 'is not', contains: 'contains', none: 'is nothing'} as const;
const MANNERS = [
  {value: 'filters', text: 'Filter', title: 'Others are left out'},
  {value: 'selection', text: 'Select', title: 'Others stand back'},
] as const;
type Manner = (typeof MANNERS)[number]['value'];

function Chips({label, list, class: extra, onChange}: {label: string; list: Condition[]; class: string; onChange: (list: Condition[]) => void}) {
  if (!list.length) return null;
  return (
    <ul class={`conditions ${extra}`} aria-label={label}>
      {list.map((each) => (
        <li key={write(each)}>
          {tell(each)}
          <Button icon="close" label={`Remove: ${tell(each)}`} onClick={() => onChange(list.filter((other) => other !== each))} />
        </li>
      ))}
    </ul>
  );
}

function number(text: string, missing: number): number {
  return text.trim() === '' ? missing : Number(text.replace(',', '.').replace('\u2212', '-'));
}

/** Columns that charts can be coloured and selected by have values; what only tells, as an error, can be filtered. */
function Form({columns, onDone}: {columns: Column[]; onDone: () => void}) {
  const [name, setName] = useState(columns[0]!.name);
  const [manner, setManner] = useState<Manner>('filters');
  const [kind, setKind] = useState<keyof typeof KINDS>('same');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [wrong, setWrong] = useState('');
  const column = columns.find((each) => each.name === name) ?? columns[0]!;
  const take = (event: Event) => {
    event.preventDefault();
    const ends = [number(from, -Infinity), number(to, Infinity)] as const;
    if (!column.text && ends.some(Number.isNaN)) return setWrong('Give numbers, or leave an end empty.');
    if (!column.text && ends[0] > ends[1]) return setWrong('The first is greater than the second.');
    const condition: Condition = !column.text
      ? {column: name, kind: 'between', from: ends[0], to: ends[1]}
      : kind === 'none'
        ? {column: name, kind}
        : {column: name, kind, text: from.slice(0, 120)};
    const list = manner === 'filters' ? state.peek().filters : state.peek().selection;
    change({[manner]: replaced(list, name, condition)});
    onDone();
  };
  return (
    <form class="condition-form" onSubmit={take}>
      <Segmented label="What to do" options={MANNERS} value={manner} onChange={setManner} />
      <select aria-label="Column" value={name} onChange={(event) => setName(event.currentTarget.value)}>
        {columns.map((each) => (
          <option key={each.name} value={each.name}>{each.name}</option>
        ))}
      </select>
      {column.text ? (
        <>
          <select aria-label="Condition" value={kind} onChange={(event) => setKind(event.currentTarget.value as keyof typeof KINDS)}>
            {Object.entries(KINDS).map(([value, text]) => (
              <option key={value} value={value}>{text}</option>
            ))}
          </select>
          {kind !== 'none' && <input type="text" aria-label="Text" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />}
        </>
      ) : (
        <span class="range-fields">
          <input type="text" inputMode="decimal" aria-label="From" placeholder="from" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
          –
          <input type="text" inputMode="decimal" aria-label="To" placeholder="to" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
          <span class="unit">{column.unit}</span>
        </span>
      )}
      <button type="submit" class="button primary">Apply</button>
      {wrong && <p class="inline-error" role="alert">{wrong}</p>}
    </form>
  );
}

export function Filters({sweep}: {sweep: Sweep}) {
  const [open, setOpen] = useState(false);
  const {filters, selection} = state.value;
  const box = usePopover<HTMLDivElement>(open, () => {
    // What has the focus goes with the form.
    if (box.current?.querySelector('form')?.contains(document.activeElement)) box.current.querySelector('button')!.focus();
    setOpen(false);
  });
  const columns = [...sweep.columns].sort((a, b) => Number(a.role === 'run') - Number(b.role === 'run'));
  return (
    <div ref={box} class="filters">
      <Button icon="plus" label="Add a filter or a selection" text="Filter" kind="plain" pressed={open} onClick={() => setOpen(!open)} />
      <Chips label="Filters" list={filters} class="" onChange={(list) => change({filters: list})} />
      <Chips label="Selection" list={selection} class="picked" onChange={(list) => change({selection: list})} />
      {selection.length > 0 && (
        <>
          <Button
            label="Only these: the selection becomes a filter"
            text="Only these"
            kind="plain"
            onClick={() => change({filters: selection.reduce((list, each) => replaced(list, each.column, each), filters), selection: []})}
          />
          <Button label="Clear the selection" text="Clear" onClick={() => change({selection: []})} />
        </>
      )}
      {open && <Form columns={columns} onDone={() => setOpen(false)} />}
    </div>
  );
}
