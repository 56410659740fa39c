// condition_editor.tsx: the condition that ends a trial, row by row.
import {formatSignal} from '../../format';
import {lastValue} from '../../live/samples';
import {model, signalIds, unitOf} from '../../live/store';
import {Button} from '../../ui/controls';
import {NumberField} from '../../ui/typed';
import {holds, OPERATORS} from './condition';
import type {Operator, Term} from './condition';
import {condition} from './session';

const SUGGESTED: Term = {signal: 'time', operator: '>', value: 60};

export function ConditionEditor() {
  const {terms, least} = condition.value;
  const set = (changed: Term[], count = least) => (condition.value = {terms: changed, least: Math.min(count, changed.length)});
  const change = (at: number, part: Partial<Term>) => set(terms.map((term, i) => (i === at ? {...term, ...part} : term)));
  return (
    <fieldset class="condition">
      <legend>Stops when</legend>
      {terms.length > 1 && (
        <select aria-label="How many must hold" value={String(least)} onChange={(event) => set(terms, Number(event.currentTarget.value))}>
          <option value="0">all of these hold</option>
          {terms.slice(0, -1).map((_, i) => (
            <option key={i} value={String(i + 1)}>{i + 1} of these hold{i ? '' : 's'}</option>
          ))}
        </select>
      )}
      {terms.map((term, i) => {
        const known = signalIds.value.has(term.signal);
        const value = lastValue(term.signal);
        return (
          <div key={i} class="term">
            <input
              aria-label={`Signal of condition ${i + 1}`}
              list="trial-signals"
              class={known ? '' : 'invalid'}
              title={known ? undefined : 'There is no such signal'}
              value={term.signal}
              onInput={(event) => change(i, {signal: event.currentTarget.value})}
            />
            <select aria-label={`Comparison of condition ${i + 1}`} value={term.operator} onChange={(event) => change(i, {operator: event.currentTarget.value as Operator})}>
              {OPERATORS.map((operator) => <option key={operator} value={operator}>{operator}</option>)}
            </select>
            <NumberField live label={`Value of condition ${i + 1}`} value={term.value} onChange={(typed) => change(i, {value: typed})} />
            <span class={`tag ${holds(term, value) ? 'good' : ''}`} title="Its value now">{formatSignal(value, 3)} {unitOf(term.signal)}</span>
            <Button icon="close" label={`Remove condition ${i + 1}`} onClick={() => set(terms.filter((_, k) => k !== i))} />
          </div>
        );
      })}
      <Button icon="plus" label="Add a condition" text="Condition" kind="plain" onClick={() => set([...terms, terms[terms.length - 1] ?? SUGGESTED])} />
      <datalist id="trial-signals">
        {model.value?.signals.slice(0, 2000).map(({name}) => <option key={name} value={name} />)}
      </datalist>
    </fieldset>
  );
}
