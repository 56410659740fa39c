// formula.tsx: a formula is written, with what it means said at once: its value, or what is wrong with it.
import {signal} from '@preact/signals';
import {useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {derived, problemOf} from '../../live/derived';
import {split} from '../../live/expression';
import {FUNCTIONS} from '../../live/functions';
import {shownModel, valueAt} from '../../live/moment';
import {want} from '../../live/samples';
import {Button, Field} from '../../ui/controls';
import {Dialog} from '../../ui/dialog';
import {complete, offers, wordBefore} from './completion';
import type {Offer} from './completion';
import {active, addTrace, changeTrace, unitOf} from './plots';
import {LiveValue} from './value';

/** Which formula is written: of a trace, or a new one; null: none. */
export const edited = signal<{plot: number; name: string | null} | null>(null);

export function editFormula(plot: number = active.peek(), name: string | null = null): void {
  edited.value = {plot, name};
}

interface InputProps {
  value: string;
  set: (value: string) => void;
  done: () => void;
}

/** A field with offers below it, as the ARIA practices for a combobox have it. */
function FormulaInput({value, set, done}: InputProps) {
  const field = useRef<HTMLInputElement>(null);
  const [word, setWord] = useState('');
  const [at, setAt] = useState(0);
  const caretOf = useRef<number | null>(null); // where it belongs once what was taken is there
  const offered = offers(word, shownModel.value?.signals ?? []);
  const look = () => {
    const {selectionStart, value: text} = field.current!;
    setWord(wordBefore(text, selectionStart ?? text.length));
    setAt(0);
  };
  const take = (offer: Offer) => {
    const input = field.current!;
    const {text, caret} = complete(input.value, input.selectionStart ?? input.value.length, offer);
    set(text);
    setWord('');
    input.focus();
    caretOf.current = caret;
  };
  // As soon as the text is there: by the next picture somebody may be in another field.
  useLayoutEffect(() => {
    const caret = caretOf.current;
    caretOf.current = null;
    if (caret !== null) field.current!.setSelectionRange(caret, caret);
  });
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !offered.length) return done();
    if (!offered.length) return;
    if (event.key === 'ArrowDown') setAt((at + 1) % offered.length);
    else if (event.key === 'ArrowUp') setAt((at + offered.length - 1) % offered.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(offered[at]!);
    else if (event.key === 'Escape') setWord('');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="formula-input">
      <input
        autofocus
        ref={field}
        class="mono"
        role="combobox"
        aria-label="Formula"
        aria-expanded={offered.length > 0}
        aria-controls="formula-offers"
        aria-autocomplete="list"
        aria-activedescendant={offered.length ? `formula-offer-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder="hypot(chassis.vx, chassis.vy)"
        value={value}
        onInput={(event) => {
          set(event.currentTarget.value);
          look();
        }}
        onKeyDown={onKey}
        onBlur={() => setWord('')}
      />
      <ul id="formula-offers" role="listbox" aria-label="Signals and functions" hidden={!offered.length}>
        {offered.map((offer, i) => (
          <li key={offer.text} id={`formula-offer-${i}`} role="option" aria-selected={i === at} onPointerDown={(event) => (event.preventDefault(), take(offer))}>
            <span>{offer.text}</span>
            <span class="muted">{offer.hint}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What the formula gives now, or what is wrong with it. */
function Meaning({name}: {name: string}) {
  const problem = problemOf(name);
  useEffect(() => (problem ? undefined : want([name], false)), [name, problem]);
  if (problem) return <p class="inline-error" role="alert">{problem}</p>;
  return (
    <p class="formula-value" role="status">
      = <LiveValue name={name} class="legend-value" of={valueAt} /> <span class="unit">{unitOf(name)}</span>
    </p>
  );
}

function FunctionList() {
  return (
    <details class="formula-help">
      <summary>Functions</summary>
      <dl>
        {[...FUNCTIONS].map(([name, {help}]) => (
          <div key={name}>
            <dt class="mono">{name}</dt>
            <dd class="muted">{help}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">Values are in SI. + − * / ^ % (−x^2 is −(x^2)), comparisons (1 or 0), && || !, A ? B : C, pi and e. A name with blanks stands in quotes.</p>
    </details>
  );
}

export function FormulaDialog() {
  const {plot, name: before} = edited.value!;
  const [label, setLabel] = useState(() => (before ? split(before)[0] : ''));
  const [formula, setFormula] = useState(() => (before ? split(before)[1] : ''));
  const name = `${label.trim()} = ${formula.trim()}`;
  const close = () => (edited.value = null);
  const done = () => {
    if (!derived(name)) return;
    if (before) changeTrace(plot, before, {name});
    else addTrace(plot, name);
    close();
  };
  return (
    <Dialog title={before ? 'Change the formula' : 'Plot a formula'} onClose={close}>
      <div class="formula">
        <FormulaInput value={formula} set={setFormula} done={done} />
        {formula.trim() ? <Meaning key={name} name={name} /> : <p class="muted">Write names of signals and what is computed of them.</p>}
        <Field label="Name (may be left out)">
          <input value={label} maxLength={60} placeholder="speed" onInput={(event) => setLabel(event.currentTarget.value.replace(/=/g, ''))} onKeyDown={(event) => event.key === 'Enter' && done()} />
        </Field>
        <FunctionList />
        <div class="formula-actions">
          <Button label={before ? 'Change' : 'Plot it'} text={before ? 'Change' : 'Plot it'} kind="primary" disabled={!formula.trim() || !derived(name)} onClick={done} />
        </div>
      </div>
    </Dialog>
  );
}
