// picker.tsx: which signals of runs are drawn; the address has them.
import {useState} from 'preact/hooks';
import {matches, shownUnit} from '../../format';
import {params, setParams} from '../../route';
import {Button} from '../../ui/controls';

export const names = params('signals', 'runs');
const MOST = 10;
const MOST_LISTED = 100;

/** Of a robot, what is looked at first. */
const USUAL = /(^|[./])(position|velocity|vx|x|heading)$/;
const OFFERED = 4;

/** Where nothing is chosen yet: some that people look at first. */
export function Suggestions({signals}: {signals: {name: string}[]}) {
  const usual = signals.filter(({name}) => USUAL.test(name));
  return (
    <p class="suggestions">
      {(usual.length ? usual : signals).slice(0, OFFERED).map(({name}) => (
        <Button key={name} kind="plain" label={`Draw ${name}`} text={name} onClick={() => setParams({signals: [...names.peek(), name]}, 'runs')} />
      ))}
    </p>
  );
}

export function Picker({signals}: {signals: {name: string; unit: string}[]}) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = signals.filter(({name}) => matches(name, words));
  const choose = (name: string, on: boolean) => setParams({signals: on ? [...names.value, name] : names.value.filter((kept) => kept !== name)}, 'runs');
  return (
    <details class="choice">
      <summary>Signals: {names.value.length}</summary>
      <div class="choice-list float">
        <input type="search" aria-label="Search signals of this run" placeholder={`Search ${signals.length} signals`} value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        {found.slice(0, MOST_LISTED).map(({name, unit}) => (
          <label key={name} class="switch">
            <input
              type="checkbox"
              aria-label={name}
              checked={names.value.includes(name)}
              disabled={!names.value.includes(name) && names.value.length >= MOST}
              onChange={(event) => choose(name, event.currentTarget.checked)}
            />
            <span>{name} <span class="unit">{shownUnit(unit)}</span></span>
          </label>
        ))}
        {found.length > MOST_LISTED && <span class="muted">{found.length - MOST_LISTED} more: search for them.</span>}
      </div>
    </details>
  );
}
