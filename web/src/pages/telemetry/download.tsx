// download.tsx: what is looked at as a file, whole, however much it is.
import {useState} from 'preact/hooks';
import {Segmented, Switch} from '../../ui/controls';
import {Popover} from '../../ui/popover';
import {iso} from './span';
import type {Moments} from './span';
import {tableUrl} from './types';
import {clockText, fileZone, zoneName} from './zone';

const FORMATS = ['csv', 'xml', 'json'] as const;
const ROWS = [
  {value: 'record', text: 'every record'},
  {value: 'second', text: 'a second'},
  {value: 'minute', text: 'a minute'},
  {value: 'hour', text: 'an hour'},
  {value: 'day', text: 'a day'},
] as const;

interface DownloadProps {
  devices: readonly string[];
  /** Those that are chosen; none: all. */
  fields: readonly string[];
  fieldCount: number;
  moments: Moments;
}

/** A name that every file system takes. */
function fileName(devices: readonly string[], {from, to}: Moments): string {
  const clock = (ms: number) => clockText(ms, zoneName.value).slice(0, 19).replace('T', ' ').replace(/:/g, '-');
  return `${devices.join(' ').replace(/[^\w .-]+/g, '_').slice(0, 80)} ${clock(from)} to ${clock(to)}`;
}

export function Download({devices, fields, fieldCount, moments}: DownloadProps) {
  const [rows, setRows] = useState<(typeof ROWS)[number]['value']>('record');
  const [fill, setFill] = useState(false);
  const [part, setPart] = useState<'all' | 'shown'>('all');
  const {zone, fixed} = fileZone(moments, zoneName.value, devices[0] ?? '');
  const keys: Record<string, string> = {from: iso(moments.from), to: iso(moments.to), zone};
  if (rows === 'record') keys.time = 'iso';
  else keys.bucket = rows;
  if (fill && rows === 'record') keys.fill = 'previous';
  const subject = {devices, fields: part === 'all' ? [] : fields};
  return (
    <Popover label="Download" icon="download" text="Download" class="download">
      <p>{clockText(moments.from, zoneName.value).replace('T', ' ')} to {clockText(moments.to, zoneName.value).replace('T', ' ')}, whole.</p>
      {fields.length > 0 && fields.length < fieldCount && (
        <Segmented label="Fields" options={[{value: 'all', text: `all ${fieldCount} fields`}, {value: 'shown', text: `the ${fields.length} chosen`}]} value={part} onChange={setPart} />
      )}
      <label class="field">
        <span class="field-label">A row for</span>
        <select value={rows} onChange={(event) => setRows(event.currentTarget.value as typeof rows)}>
          {ROWS.map(({value, text}) => <option key={value} value={value}>{text}</option>)}
        </select>
        <span class="hint">{rows === 'record' ? 'As they were sent, texts too.' : 'Least, greatest, mean, count and last of each number.'}</span>
      </label>
      {rows === 'record' && <Switch label="Empty cells get the last value" checked={fill} onChange={setFill} />}
      {fixed && <p class="hint">The clocks of {zoneName.value} are set in this stretch. The program does not know this zone: all times in the file are of UTC{zone === 'Z' ? '' : zone}. Each says so.</p>}
      <div class="download-links">
        {FORMATS.map((format) => (
          <a key={format} class="button primary" href={tableUrl(format, subject, keys)} download={`${fileName(devices, moments)}.${format}`}>{format.toUpperCase()}</a>
        ))}
      </div>
    </Popover>
  );
}
