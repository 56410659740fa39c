// telemetry.tsx: what robots, real and simulated, told about themselves.
import {useState} from 'preact/hooks';
import {useFetched} from '../../http';
import {Empty, Segmented} from '../../ui/controls';
import {Show} from '../../ui/fetched';
import {Data} from './data';
import {Attributes, Devices, Store} from './devices';
import type {Attribute, CollectorStatus, Device} from './types';

const PARTS = [
  {value: 'data', text: 'Data'},
  {value: 'names', text: 'Names and handling'},
] as const;
const PERIOD_MS = 3000;

export function Telemetry() {
  const [part, setPart] = useState<'data' | 'names'>('data');
  const devices = useFetched<Device[]>('telemetry/devices', PERIOD_MS);
  const attributes = useFetched<Attribute[]>('telemetry/attributes', PERIOD_MS);
  const state = useFetched<CollectorStatus>('telemetry/status', PERIOD_MS);
  const missing = <>Add a <code>telemetry</code> section to the scene, or run <code>tether collect</code>.</>;
  return (
    <div class="telemetry">
      <div class="telemetry-head">
        <Segmented label="Part" options={PARTS} value={part} onChange={setPart} />
        <Store from={state} />
      </div>
      <Show from={devices} what="telemetry" icon="telemetry" missing={missing}>
        {(list) => (
          <Show from={attributes} what="attributes" icon="telemetry" missing={missing}>
            {(known) => {
              if (!list.length) return <Empty icon="telemetry" title="No device has sent anything yet">Messages come by TCP, by <code>POST /telemetry</code> or by WebSocket.</Empty>;
              if (part === 'data') return <Data devices={list} attributes={known} />;
              return (
                <div class="names">
                  <Devices devices={list} again={devices.again} />
                  <Attributes attributes={known} again={attributes.again} />
                </div>
              );
            }}
          </Show>
        )}
      </Show>
    </div>
  );
}
