// wires.tsx: every wire: who is at the other end, how well it goes, and what was wrong.
import {formatCount, formatRate, formatValue} from '../../format';
import {wireRates} from '../../live/rates';
import {isLive} from '../../live/moment';
import {model, status} from '../../live/store';
import type {WireState, WireStatus} from '../../live/types';
import {param, setParams} from '../../route';
import {Empty, Panel} from '../../ui/controls';
import {NoWorld} from '../../ui/noworld';
import {Message} from './hex';
import {KeptMessages} from './kept_messages';
import {Monitor} from './monitor';

const chosen = param('wire', 'wires');

const STATE: Record<WireState, {kind: string; text: string}> = {
  waiting: {kind: '', text: 'Nobody has spoken yet'},
  driving: {kind: 'good', text: 'Commands come in time'},
  late: {kind: 'warn', text: 'Commands come, but late'},
  silent: {kind: 'bad', text: 'Commands stopped; the watchdog set safe values'},
};

function dropsOf(wire: WireStatus): number {
  return Object.values(wire.dropped).reduce((sum, count) => sum + count, 0);
}

function State({state}: {state: WireState}) {
  return <span class={`tag ${STATE[state]?.kind ?? ''}`} title={STATE[state]?.text}>{state}</span>;
}

function Card({wire, current}: {wire: WireStatus; current: boolean}) {
  const rates = wireRates.value.get(wire.name);
  const drops = dropsOf(wire);
  return (
    <button type="button" class="wire-card" aria-current={current || undefined} onClick={() => setParams({wire: wire.name}, 'wires')}>
      <span class="wire-name">{wire.name}</span>
      <State state={wire.state} />
      <span class="muted wire-address">{wire.address}</span>
      <span class="wire-rates">
        <span>→ {formatRate(rates?.received ?? 0)}</span>
        <span>← {formatRate(rates?.sent ?? 0)}</span>
        {drops > 0 && <span class="bad-text">{formatCount(drops)} dropped</span>}
      </span>
    </button>
  );
}

function Pair({name, value, warn}: {name: string; value: string; warn?: boolean}) {
  return (
    <div class={warn ? 'warn-text' : ''}><dt>{name}</dt><dd>{value}</dd></div>
  );
}

function Figures({wire}: {wire: WireStatus}) {
  const rates = wireRates.value.get(wire.name);
  const robot = model.value?.robots[wire.robot]?.name ?? 'the whole world';
  const trip = wire.roundTrip;
  return (
    <div class="wire-figures">
      <Panel title={wire.name} actions={<State state={wire.state} />}>
        <dl class="pairs panel-body">
          <Pair name="protocol" value={wire.protocol} />
          <Pair name="drives" value={robot} />
          <Pair name="here" value={wire.address} />
          <Pair name="peer" value={wire.peer || 'none yet'} />
          <Pair name="late" value={formatCount(wire.late)} warn={wire.late > 0} />
          {wire.repeated > 0 && <Pair name="sent again" value={formatCount(wire.repeated)} warn />}
          <Pair name="watchdog trips" value={formatCount(wire.watchdogTrips)} warn={wire.watchdogTrips > 0} />
        </dl>
      </Panel>
      <Panel title="Traffic">
        <dl class="pairs panel-body">
          <Pair name="received" value={`${formatCount(wire.received)}   ${formatRate(rates?.received ?? 0)}`} />
          <Pair name="accepted" value={formatCount(wire.accepted)} />
          <Pair name="sent" value={`${formatCount(wire.sent)}   ${formatRate(rates?.sent ?? 0)}`} />
          <Pair name="not sent" value={formatCount(wire.sendFailed)} warn={wire.sendFailed > 0} />
          {trip ? (
            <>
              <Pair name="answer, mean" value={`${formatValue(trip.mean, 3)} ms`} />
              <Pair name="least … greatest" value={`${formatValue(trip.min, 3)} … ${formatValue(trip.max, 3)} ms`} />
            </>
          ) : (
            <Pair name="answer time" value="not measured" />
          )}
        </dl>
      </Panel>
      <Panel title="Dropped">
        {Object.keys(wire.dropped).length ? (
          <dl class="pairs panel-body">
            {Object.entries(wire.dropped).map(([reason, count]) => (
              <Pair key={reason} name={reason} value={formatCount(count)} warn={count > 0} />
            ))}
          </dl>
        ) : (
          <p class="panel-body muted">Every message was taken.</p>
        )}
      </Panel>
    </div>
  );
}

export function Wires() {
  const wires = status.value?.wires ?? [];
  if (!status.value) return <NoWorld icon="wires" title="No state of the wires" />;
  if (!isLive.value) return <div class="wires-past"><KeptMessages /></div>;
  const at = Math.max(0, wires.findIndex(({name}) => name === chosen.value));
  const wire = wires[at];
  if (!wire) {
    return (
      <Empty icon="wires" title="This scene has no wires">
        A program drives a robot through a wire: add one under <code>wires</code> in the scene's file.
      </Empty>
    );
  }
  return (
    <div class="wires">
      <nav class="wire-list" aria-label="Wires">
        {wires.map((each) => (
          <Card key={each.name} wire={each} current={each === wire} />
        ))}
      </nav>
      <div class="wire-detail">
        <Figures wire={wire} />
        {wire.bad && (
          <Panel title="Last bad message" class="bad">
            <div class="panel-body">
              <p class="bad-reason"><b>{wire.bad.text}</b> <span class="muted">from {wire.bad.peer || 'an unknown peer'}</span></p>
              <Message size={wire.bad.size} hex={wire.bad.hex} fields={wire.bad.fields} complaint={wire.bad.text} />
            </div>
          </Panel>
        )}
        <Monitor wire={at} />
      </div>
    </div>
  );
}
