// devices.tsx: who sends telemetry, what they send, and what becomes of it; names and handling edited in place.
import {number, object} from '../../check';
import {formatBytes, formatCount, formatDate} from '../../format';
import type {Fetched} from '../../http';
import {request} from '../../http';
import {useState} from 'preact/hooks';
import {may} from '../../role';
import {Allowed, Denied} from '../../ui/allowed';
import {Button, Panel} from '../../ui/controls';
import {RemoveValues} from './removal';
import {Editable} from '../../ui/editable';
import {notify} from '../../live/store';
import {MODES, TYPES} from './types';
import type {Attribute, CollectorStatus, Device, Handling} from './types';

const A_DAY_US = 86400e6;

/** µs. A clock that shows no date counts from when its device began. */
function Clock({offset}: {offset: number}) {
  if (Math.abs(offset) < A_DAY_US) return <>{(offset / 1000).toFixed(1)} <span class="muted">ms behind</span></>;
  return <><span class="muted">since</span> {formatDate(new Date(offset / 1000).toISOString())}</>;
}

const checkRemoved = object({removed: number});
type Kind = 'devices' | 'attributes';

/** Names that nobody needs take room from others: there are only so many. What has values can't be removed. */
function remover(kind: Kind, again: () => void) {
  return (name: string) =>
    request('DELETE', `telemetry/${kind}${name && `/${encodeURIComponent(name)}`}`, undefined, checkRemoved)
      .then(({removed}) => notify(name ? `${name} is removed` : `${removed} ${kind} removed of which nothing is stored`))
      .catch((error: Error) => notify(name ? `${name}: ${error.message}` : error.message, 'error'))
      .then(again);
}

function RemoveUnused({kind, again}: {kind: Kind; again: () => void}) {
  return <Button icon="trash" label={`Remove ${kind} of which nothing is stored`} text="Remove unused" onClick={() => void remover(kind, again)('')} />;
}

export function Devices({devices, attributes, again}: {devices: Device[]; attributes: Attribute[]; again: () => void}) {
  const [removing, setRemoving] = useState<Device | null>(null);
  const rename = (device: string) => async (name: string) => {
    await request('PUT', `telemetry/devices/${encodeURIComponent(device)}`, {name: name || null});
    again();
  };
  return (
    <Panel title={`Devices · ${devices.length}`} actions={<Allowed needs="administer"><RemoveUnused kind="devices" again={again} /></Allowed>}>
      <Denied needs="administer" />
      {removing && <RemoveValues device={removing} attributes={attributes} onClose={() => { setRemoving(null); again(); }} />}
      <Allowed needs="administer">
      <div class="scroll" tabIndex={0} role="group" aria-label="Devices">
        <table>
          <thead>
            <tr><th>name</th><th>identifier</th><th>last sample</th><th class="number">messages</th><th class="number">values</th><th class="number" title="How far its clock is behind; or since when it counts">clock</th><th class="number">drift</th><th></th></tr>
          </thead>
          <tbody>
            {devices.map((info) => (
              <tr key={info.device}>
                <td><Editable address={`telemetry/devices/${info.device}/name`} label={`Name of ${info.device}`} value={info.name ?? ''} placeholder="no name" save={rename(info.device)} /></td>
                <td class="mono">{info.device}</td>
                <td>{info.last_sample ? formatDate(info.last_sample) : 'none'}</td>
                <td class="number">{formatCount(info.messages)}</td>
                <td class="number">{formatCount(info.values)}</td>
                <td class="number"><Clock offset={info.clock_offset_us} /></td>
                <td class="number">{info.clock_drift_ppm.toFixed(1)} <span class="muted">ppm</span></td>
                <td>
                  {info.attributes
                    ? may('administer') && <Button icon="trash" label={`Remove values of ${info.device}…`} onClick={() => setRemoving(info)} />
                    : <Button icon="trash" label={`Remove ${info.device}, of which nothing is stored`} onClick={() => void remover('devices', again)(info.device)} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      </Allowed>
    </Panel>
  );
}

/** A number field of an attribute's handling. */
function numberOf(text: string): number {
  const value = Number(text.replace(',', '.'));
  if (!text || !Number.isFinite(value)) throw new Error(`'${text}' is no number`);
  return value;
}

export function Attributes({attributes, again}: {attributes: Attribute[]; again: () => void}) {
  const put = async (attribute: string, change: Partial<Handling & {name: string | null}>) => {
    await request('PUT', `telemetry/attributes/${encodeURIComponent(attribute)}`, change);
    again();
  };
  const choose = (attribute: string, change: Partial<Handling>) =>
    put(attribute, change).catch((error: Error) => notify(`${attribute}: ${error.message}`, 'error'));
  return (
    <Panel title={`Attributes · ${attributes.length}`} actions={<Allowed needs="administer"><RemoveUnused kind="attributes" again={again} /></Allowed>}>
      <Allowed needs="administer">
      <div class="scroll" tabIndex={0} role="group" aria-label="Attributes">
        <table class="attributes">
          <thead>
            <tr>
              <th>name</th><th>identifier</th><th>type</th><th>handling</th><th>unit</th>
              <th class="number">scale</th><th class="number">offset</th><th class="number" title="Values closer together are not stored">every [s]</th><th class="number" title="Kept this long; 0 is for ever">kept [s]</th><th></th>
            </tr>
          </thead>
          <tbody>
            {attributes.map((info) => {
              const {attribute} = info;
              const number = (key: 'scale' | 'offset' | 'min_interval' | 'retention', label: string) => (
                <td class="number">
                  <Editable number address={`telemetry/attributes/${attribute}/${key}`} label={`${label} of ${attribute}`} value={String(info[key])} save={async (text) => put(attribute, {[key]: numberOf(text)})} />
                </td>
              );
              return (
                <tr key={attribute}>
                  <td><Editable address={`telemetry/attributes/${attribute}/name`} label={`Name of ${attribute}`} value={info.name ?? ''} placeholder="no name" save={(name) => put(attribute, {name: name || null})} /></td>
                  <td class="mono">{attribute}</td>
                  <td>
                    <select aria-label={`Type of ${attribute}`} value={info.type} onChange={(event) => choose(attribute, {type: event.currentTarget.value})}>
                      {TYPES.map((type) => <option key={type} value={type}>{type}</option>)}
                    </select>
                  </td>
                  <td>
                    <select aria-label={`Handling of ${attribute}`} value={info.mode} onChange={(event) => choose(attribute, {mode: event.currentTarget.value})}>
                      {Object.entries(MODES).map(([mode, text]) => <option key={mode} value={mode}>{text}</option>)}
                    </select>
                  </td>
                  <td><Editable address={`telemetry/attributes/${attribute}/unit`} label={`Unit of ${attribute}`} value={info.unit ?? ''} placeholder="–" save={(unit) => put(attribute, {unit: unit || null})} /></td>
                  {number('scale', 'Scale')}
                  {number('offset', 'Offset')}
                  {number('min_interval', 'Least interval')}
                  {number('retention', 'Retention')}
                  <td>{!info.devices && <Button icon="trash" label={`Remove ${attribute}, of which nothing is stored`} onClick={() => void remover('attributes', again)(attribute)} />}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      </Allowed>
    </Panel>
  );
}

export function Store({from}: {from: Fetched<CollectorStatus>}) {
  const state = from.value;
  if (!state) return null;
  const store = state.store === 'none' ? null : state.store;
  return (
    <div class="store-line">
      {state.degraded && <span class="tag bad">store is away</span>}
      {store && !state.degraded && <span class="tag good">storing</span>}
      <span class="muted">{store ?? 'nothing is stored'}{state.reason ? `: ${state.reason}` : ''}</span>
      <span class="grow" />
      <span class="muted">{formatCount(state.messages)} messages · {formatCount(state.refused)} refused{store && ` · ${formatCount(state.stored_values)} values stored · ${formatBytes(state.queued_bytes)} waiting`}</span>
    </div>
  );
}
