// fields.tsx: what a device sends, with the newest values, or those under the cursor; what is chosen is drawn, and stands in the table.
import {useState} from 'preact/hooks';
import {formatCount, formatSignal} from '../../format';
import {Button, Panel} from '../../ui/controls';
import type {Series} from './points';
import {cellText} from './tiles';
import {fieldLabel, labelOf} from './types';
import type {Latest} from './types';

/** From so many fields on they are searched. */
const MANY = 12;

export interface Field {
  attribute: string;
  label: string;
  unit: string | null;
  number: boolean;
}

/** In the order in which devices send them. */
export function fieldsOf(latest: readonly Latest[]): Field[] {
  const found = new Map<string, Field>();
  for (const value of latest) {
    const number = typeof value.value === 'number' || (found.get(value.attribute)?.number ?? false);
    found.set(value.attribute, {attribute: value.attribute, label: fieldLabel(value), unit: value.unit, number});
  }
  return [...found.values()];
}

/** A line that is drawn. */
export interface Drawn {
  series: Series;
  field: Field;
  colour: string;
}

/** Of a trace at a moment, ms: the stretch that lies there. */
function under({times, least, greatest}: Series, moment: number): string {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= moment) low = middle + 1;
    else high = middle;
  }
  if (!low) return '–';
  const [a, b] = [least[low - 1]!, greatest[low - 1]!];
  return a === b ? formatSignal(a) : `${formatSignal(a)} … ${formatSignal(b)}`;
}

interface FieldsProps {
  fields: Field[];
  latest: readonly Latest[];
  /** Of attributes. */
  shown: readonly string[];
  drawn: readonly Drawn[];
  several: boolean; // devices
  cursor: number | null; // ms
  onShown: (attributes: string[] | null) => void;
}

function Values({field, latest, drawn, several, cursor}: Omit<FieldsProps, 'fields' | 'shown' | 'onShown'> & {field: Field}) {
  const lines = drawn.filter((line) => line.field.attribute === field.attribute);
  const newest = latest.filter(({attribute}) => attribute === field.attribute);
  if (!lines.length) return <span class="field-value muted">{newest.map(({value}) => cellText(value)).join(', ')}</span>;
  return (
    <>
      {lines.map(({series, colour}) => (
        <span key={series.device} class="field-value">
          <i class={`swatch ${colour}`} />
          {several && <span class="muted">{series.device} </span>}
          {cursor === null ? cellText(newest.find((value) => labelOf({name: value.device_name, device: value.device}) === series.device)?.value ?? null) : under(series, cursor)}
        </span>
      ))}
    </>
  );
}

export function Fields({fields, latest, shown, drawn, several, cursor, onShown}: FieldsProps) {
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const matching = fields.filter(({attribute, label}) => `${attribute} ${label}`.toLowerCase().includes(words));
  return (
    <Panel title={`Fields · ${formatCount(fields.length)}`} class={`device-fields${several ? ' several' : ''}`} actions={<Button label="Reset to the usual fields" text="Reset" onClick={() => onShown(null)} />}>
      {fields.length > MANY && <input type="search" placeholder="Search fields" aria-label="Search fields" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />}
      <ul class="scroll" tabIndex={0} aria-label="Fields">
        {matching.map((field) => (
          <li key={field.attribute}>
            <label title={field.attribute}>
              <input
                type="checkbox"
                checked={shown.includes(field.attribute)}
                onChange={(event) => onShown(event.currentTarget.checked ? [...shown, field.attribute] : shown.filter((other) => other !== field.attribute))}
              />
              <span class="field-name">{field.label}</span>{field.unit && <span class="unit">{field.unit}</span>}
            </label>
            <Values field={field} latest={latest} drawn={drawn} several={several} cursor={cursor} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
