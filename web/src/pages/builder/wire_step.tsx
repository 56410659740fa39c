// wire_step.tsx: the wires of a scene: which protocol, which robot, and the order of the numbers in its arrays.
import {useState} from 'preact/hooks';
import {Button, Field, Segmented} from '../../ui/controls';
import {draft, robots, schema, setInScene, state, wireIndex} from './session';
import {endDrag, Order, startDrag} from './order';
import type {Named} from './types';
import {Name} from '../../ui/name';
import {Typed} from '../../ui/typed';
import {ARRAYS, entriesIn, entryOf, PROTOCOLS, unitsFor, wiresIn, withEntries, withWire} from './wiring';
import type {ArrayKind, WireInFile} from './wiring';

/** A default that takes a sentence is told by its help alone. */
const MOST_PLACEHOLDER = 20;
/** Names shown at once; a search finds the others. */
const MOST_SHOWN = 150;

function Choice() {
  const [protocol, setProtocol] = useState('float-udp');
  const [robot, setRobot] = useState('');
  const several = robots.value.length > 1;
  const add = () => {
    const open = draft.value!;
    open.write(open.main.value, withWire(open.scene.value, protocol, several ? robot || robots.value[0]!.name : ''));
    wireIndex.value = wiresIn(open.scene.value).length - 1;
  };
  return (
    <div class="wire-choice">
      <div class="choices" role="radiogroup" aria-label="Protocol">
        {PROTOCOLS.map(({name, title, help}) => (
          <label key={name} class="choice-card">
            <input type="radio" name="protocol" checked={protocol === name} onChange={() => setProtocol(name)} />
            <span><b>{title}</b> <code>{name}</code><small>{help}</small></span>
          </label>
        ))}
      </div>
      {several && (
        <Field label="Robot that it drives">
          <select value={robot} onChange={(event) => setRobot(event.currentTarget.value)}>
            {robots.value.map(({name}) => <option key={name} value={name}>{name}</option>)}
          </select>
        </Field>
      )}
      <Button icon="plus" label="Add this wire" text="Add this wire" kind="primary" onClick={add} />
    </div>
  );
}

/** Addresses and times of a wire: the keys that people change. */
function Addresses({wire}: {wire: WireInFile}) {
  const keys = PROTOCOLS.find(({name}) => name === wire.protocol)?.keys ?? Object.keys(wire.keys).filter((key) => typeof wire.keys[key] !== 'object');
  return (
    <div class="wire-addresses">
      {keys.map((name) => {
        const about = schema.value?.keys.find(({file, path}) => file === 'scene' && path === `wires.${wire.protocol}.${name}`);
        return (
          <Field key={name} label={name}>
            <Typed
              label={`${name} of the wire`}
              title={about?.help || undefined}
              placeholder={about && about.default.length <= MOST_PLACEHOLDER ? about.default : ''}
              value={String(wire.keys[name] ?? '')}
              set={(text) => setInScene(['wires', wire.index, wire.protocol, name], text)}
            />
          </Field>
        );
      })}
    </div>
  );
}

interface PoolProps {
  title: string;
  list: Named[];
  arrays: ArrayKind[];
  used: Set<string>;
  add: (name: string) => void;
}

function Pool({title, list, arrays, used, add}: PoolProps) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const extra = [...new Set(arrays.flatMap((array) => array.extra))].map((name) => ({name, unit: ''}));
  const found = [...extra.filter(({name}) => name !== 'none'), ...list, {name: 'none', unit: ''}].filter(({name}) => words.every((word) => name.toLowerCase().includes(word)));
  const incoming = arrays[0]!.incoming;
  return (
    <section class="pool" aria-label={title}>
      <input type="search" aria-label={`Search ${title.toLowerCase()}`} placeholder={`Search ${title.toLowerCase()}`} value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      <ul class="scroll">
        {found.slice(0, MOST_SHOWN).map(({name, unit}) => (
          <li key={name} class={`pool-row${used.has(name) && name !== 'none' ? ' used' : ''}`} draggable data-name={name} onDragStart={(event) => startDrag(event, {name, incoming, from: null})} onDragEnd={endDrag}>
            <span class="pool-name" title={name}><Name text={name} /></span>
            <span class="muted">{unit === '1' ? '' : unit}</span>
            <Button icon="plus" label={`Add ${name}`} onClick={() => add(name)} />
          </li>
        ))}
        {found.length > MOST_SHOWN && <li class="hint">{found.length - MOST_SHOWN} more: search for them.</li>}
        {!found.length && <li class="hint">Nothing is called so.</li>}
        {!list.length && <li class="hint">Names are offered once no problem is an error.</li>}
      </ul>
    </section>
  );
}

function Arrays({wire, kinds}: {wire: WireInFile; kinds: ArrayKind[]}) {
  const [side, setSide] = useState<'out' | 'in'>('out');
  const now = state.value;
  const arrays = kinds.filter(({incoming}) => incoming === (side === 'in'));
  const list = side === 'in' ? now?.commands ?? [] : now?.signals ?? [];
  const prefix = `${robots.value[0]?.name ?? ''}/`;
  // A wire of one robot says its names without the robot's.
  const own = wire.robot && wire.robot !== 'world' ? wire.robot : '';
  const local = (name: string) => (own && name.startsWith(`${own}/`) ? name.slice(own.length + 1) : name);
  const foreign = (name: string) => own !== '' && robots.value.length > 1 && name.includes('/') && !name.startsWith(`${own}/`);
  // The robots' own first, what the world has behind them.
  const rank = ({name, robot}: Named) => (name === 'time' ? -1 : name.startsWith('command:') ? 2 : robot >= 0 ? 0 : 1);
  const offered = list.filter(({name}) => !foreign(name)).map((one) => ({...one, name: local(one.name)})).sort((a, b) => rank(a) - rank(b));
  const siOf = (incoming: boolean) => (name: string) => {
    const of = (incoming ? now?.commands : now?.signals) ?? [];
    if (!of.length) return ''; // of a scene that has an error nothing is known
    return of.find((one) => one.name === name || local(one.name) === name || one.name === prefix + name)?.unit ?? null;
  };
  const write = (key: string) => (entries: ReturnType<typeof entriesIn>) => {
    const open = draft.value!;
    open.write(open.main.value, withEntries(open.scene.value, wire, key, entries));
  };
  const used = new Set(arrays.flatMap(({key}) => entriesIn(wire, key).map(({name}) => name)));
  const add = (name: string) => {
    const array = arrays.find(({key, most}) => entriesIn(wire, key).length < most);
    if (array) write(array.key)([...entriesIn(wire, array.key), entryOf(name)]);
  };
  const both = kinds.some(({incoming}) => incoming) && kinds.some(({incoming}) => !incoming);
  return (
    <>
      {both && (
        <Segmented
          label="Direction"
          options={[{value: 'out', text: 'Signals to the controller'}, {value: 'in', text: 'Commands from it'}]}
          value={side}
          onChange={setSide}
        />
      )}
      <div class="arrays">
        <Pool key={side} title={side === 'in' ? 'Commands' : 'Signals'} list={offered} arrays={arrays} used={used} add={add} />
        <div class="orders">
          {arrays.map((kind) => (
            <Order key={kind.key} kind={kind} entries={entriesIn(wire, kind.key)} siOf={siOf(kind.incoming)} unitsOf={(si) => unitsFor(schema.value, si)} set={write(kind.key)} />
          ))}
        </div>
      </div>
    </>
  );
}

export function WireStep() {
  const [adding, setAdding] = useState(false);
  const wires = wiresIn(draft.value!.scene.value);
  const wire = wires[Math.min(wireIndex.value, wires.length - 1)];
  if (!wire) {
    return (
      <>
        <p class="build-lead">A wire joins a controller to the robot. Which one does your controller speak?</p>
        <Choice />
      </>
    );
  }
  const kinds = ARRAYS[wire.protocol];
  return (
    <>
      <div class="wire-tabs">
        {wires.map(({index, protocol}, i) => (
          <Button key={index} label={state.value?.wires[i]?.name ?? protocol} text={state.value?.wires[i]?.name ?? protocol} pressed={wire.index === index && !adding} kind="plain" onClick={() => ((wireIndex.value = i), setAdding(false))} />
        ))}
        <Button icon="plus" label="Another wire" pressed={adding} onClick={() => setAdding(!adding)} />
        <Button
          icon="trash"
          label={`Remove the wire ${wire.protocol}`}
          onClick={() => setInScene(wires.length > 1 ? ['wires', wire.index] : ['wires'], null)}
        />
      </div>
      {adding ? <Choice /> : (
        <>
          <Addresses wire={wire} />
          {kinds ? <Arrays wire={wire} kinds={kinds} /> : <p class="build-lead">This wire has no order to choose. Its other keys are written in the file; the editor completes them.</p>}
        </>
      )}
    </>
  );
}
