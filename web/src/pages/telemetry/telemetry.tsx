// telemetry.tsx: what robots, real and simulated, told about themselves: a tile each, one of them over time, names and handling.
import {listOf} from '../../check';
import {useFetched} from '../../http';
import {offers} from '../../live/offers';
import {param, params, setParams} from '../../route';
import {Empty, Segmented} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {DevicePage} from './device';
import {Attributes, Devices, Store} from './devices';
import {byName, Tiles} from './tiles';
import {checkAttribute, checkCollector, checkDevice} from './types';

const PARTS = [
  {value: 'devices', text: 'Devices'},
  {value: 'names', text: 'Names and handling'},
] as const;
const PERIOD_MS = 2000;
const MISSING = <>Add a <code>telemetry</code> section to the scene, or run <code>tether collect</code>.</>;

export function Telemetry() {
  if (!offers('/telemetry/devices')) return <Empty icon="telemetry" title="This program keeps no telemetry">{MISSING}</Empty>;
  return <Kept />;
}

function Names({again: devicesAgain, ...devices}: {list: Parameters<typeof Devices>[0]['devices']; again: () => void}) {
  const attributes = useFetched('telemetry/attributes', listOf(checkAttribute), PERIOD_MS);
  return (
    <Show from={attributes} what="attributes" icon="telemetry" missing={MISSING}>
      {(known) => (
        <div class="names">
          <Devices devices={devices.list} attributes={known} again={devicesAgain} />
          <Attributes attributes={known} again={attributes.again} />
        </div>
      )}
    </Show>
  );
}

/** What to do first: a message that anybody can send. */
function Waiting() {
  const example = `curl -d "<MESSAGE id='ROBO1' time='0'><Output time='0'><drive velocity='1.5'/></Output></MESSAGE>" ${new URL('telemetry', document.baseURI).href.replace(/#.*/, '')}`;
  return (
    <Empty icon="telemetry" title="No device has sent anything yet">
      <p>Devices send XML by TCP, HTTP or WebSocket. To see one here, send this from a terminal:</p>
      <pre class="example">{example}</pre>
    </Empty>
  );
}

function Kept() {
  const part = param('part', 'telemetry').value === 'names' ? 'names' : 'devices';
  const opened = params('device', 'telemetry').value;
  const devices = useFetched('telemetry/devices', listOf(checkDevice), PERIOD_MS);
  const state = useFetched('telemetry/status', checkCollector, PERIOD_MS);
  return (
    <div class="telemetry">
      {(part === 'names' || !opened.length) && (
        <div class="telemetry-head">
          <Segmented label="Part" options={PARTS} value={part} onChange={(value) => setParams({part: value === 'names' ? value : null})} />
          <Store from={state} />
        </div>
      )}
      <Show from={devices} what="telemetry" icon="telemetry" missing={MISSING}>
        {(list) => {
          if (!list.length) return <Waiting />;
          if (part === 'names') return <Names list={byName(list)} again={devices.again} />;
          return opened.length ? <DevicePage opened={opened} devices={list} /> : <Tiles devices={list} />;
        }}
      </Show>
    </div>
  );
}
