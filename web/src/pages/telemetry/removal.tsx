// removal.tsx: values of a device are removed for good: all, of a span, of an attribute.
import {useState} from 'preact/hooks';
import {flag, number, object, orNull} from '../../check';
import {formatCount} from '../../format';
import {request} from '../../http';
import {notify} from '../../live/store';
import {Button, Field, Switch} from '../../ui/controls';
import {Dialog} from '../../ui/dialog';
import type {Attribute, Device} from './types';

/** `to`: what to ask for again. */
const checkRemoved = object({removed_values: number, more: flag, to: orNull(number)});

/** Asks again for as long as there is more; `told` hears how many are gone. */
async function remove(device: string, keys: Record<string, string>, told: (values: number) => void): Promise<number> {
  let values = 0;
  const query = new URLSearchParams({data: 'yes', ...keys});
  for (;;) {
    const answer = await request('DELETE', `telemetry/devices/${encodeURIComponent(device)}?${query}`, undefined, checkRemoved);
    told((values += answer.removed_values));
    if (!answer.more) return values;
    if (answer.to !== null) query.set('to', String(answer.to));
  }
}

export function RemoveValues({device, attributes, onClose}: {device: Device; attributes: Attribute[]; onClose: () => void}) {
  const [attribute, setAttribute] = useState('');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [itself, setItself] = useState(false);
  const [gone, setGone] = useState<number | null>(null);
  const part = !!(attribute || from || to);
  const name = device.name ?? device.device;
  const start = async () => {
    const keys = Object.fromEntries(Object.entries({attribute, from, to, name: itself && !part ? 'yes' : ''}).filter(([, value]) => value));
    setGone(0);
    try {
      notify(`${formatCount(await remove(device.device, keys, setGone))} values of ${name} are removed`);
      onClose();
    } catch (error) {
      notify(`${name}: ${(error as Error).message}`, 'error');
      setGone(null);
    }
  };
  return (
    <Dialog title={`Remove values of ${name}`} onClose={onClose}>
      <Field label="Of">
        <select value={attribute} onChange={(event) => setAttribute(event.currentTarget.value)}>
          <option value="">all attributes</option>
          {attributes.map((info) => <option key={info.attribute} value={info.attribute}>{info.name ?? info.attribute}</option>)}
        </select>
      </Field>
      <Field label="From"><input class="time" placeholder="the beginning" value={from} onInput={(event) => setFrom(event.currentTarget.value)} /></Field>
      <Field label="To" hint="2026-11-20T19:30:00Z, or -60 s from now; both are included"><input class="time" placeholder="now" value={to} onInput={(event) => setTo(event.currentTarget.value)} /></Field>
      {!part && <Switch label="The device and its name as well" checked={itself} onChange={setItself} />}
      <p class="muted">What is removed can’t be brought back. What comes in meanwhile stays.</p>
      <Button icon="trash" kind="danger" label="Remove for good" text={gone === null ? 'Remove for good' : `${formatCount(gone)} removed…`} disabled={gone !== null} onClick={() => void start()} />
    </Dialog>
  );
}
