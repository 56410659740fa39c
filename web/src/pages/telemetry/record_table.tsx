// record_table.tsx: every record of the stretch, the newest first, of any number; only those in sight are asked for.
import {useEffect, useRef, useState} from 'preact/hooks';
import {formatCount} from '../../format';
import {HttpError, request, RETRY_MS} from '../../http';
import {Panel} from '../../ui/controls';
import {Grid} from '../../ui/grid';
import {anchorsOf, Records} from './records';
import type {Anchor, Row} from './records';
import type {Moments} from './span';
import {checkTable, tableUrl} from './types';
import type {Subject} from './types';
import {clockText, zoneName, zoneText} from './zone';

const FOLLOW_MS = 2000;
/** Every so often they are counted again. */
const COUNT_EVERY = 5;
const HOUR = 3600e6;
/** Of a number as it was sent; more are nobody's measurement. */
const DIGITS = 9;

interface Bucket {
  name: string;
  length: number; // µs
}

/** Of which there are not too many in a stretch, ms. */
function bucketFor({from, to}: Moments): Bucket {
  if (to - from > 60 * 86400e3) return {name: 'day', length: 24 * HOUR};
  return to - from > 86400e3 ? {name: 'hour', length: HOUR} : {name: 'minute', length: HOUR / 60};
}

/** How many records there are where counting takes too long: of a field that every record is likely to have. */
async function estimate({devices}: Subject, moments: Moments, field: string): Promise<Anchor[]> {
  if (!field) return [];
  const {name, length} = bucketFor(moments);
  const url = tableUrl('json', {devices, fields: [field]}, {bucket: name, from: micros(moments.from), to: micros(moments.to)});
  return anchorsOf(await request('GET', url, undefined, checkTable), length);
}

const micros = (ms: number) => String(Math.round(ms * 1000));

function recordsOf(subject: Subject, moments: Moments, field: string, total: number): Records {
  const ask = (keys: Record<string, string>) => request('GET', tableUrl('json', subject, {time: 'iso', ...keys}), undefined, checkTable);
  return new Records(ask, Math.round(moments.from * 1000), Math.round(moments.to * 1000), () => estimate(subject, moments, field), total);
}

interface RecordTableProps {
  subject: Subject;
  /** Another one has other records; those of one span move on. */
  topic: string;
  moments: Moments;
  following: boolean;
  /** A number that is likely to be in every record; "": there is none. */
  field: string;
  units: Map<string, string>;
  onCount: (told: {total: number; exact: boolean} | null) => void;
}

function headTitle(name: string, unit: string | undefined) {
  return <span>{name}{unit && <span class="unit"> {unit}</span>}</span>;
}

function cellsOf(row: Row, first: number): string[] {
  return row.slice(first).map((value, i) => {
    if (i + first === 1) return clockText(Date.parse(String(value)), zoneName.value, true).replace('T', ' ');
    return typeof value === 'number' ? String(Number(value.toPrecision(DIGITS))).replace('-', '\u2212') : value === null ? '' : String(value);
  });
}

export function RecordTable({subject, topic, moments, following, field, units, onCount}: RecordTableProps) {
  const [shown, setShown] = useState<Records | null>(null);
  const [error, setError] = useState('');
  const [, redraw] = useState(0);
  const sight = useRef<[number, number]>([0, 0]);
  const latest = useRef(moments);
  latest.current = moments;
  const known = useRef<Records | null>(null); // of this topic
  useEffect(() => {
    let gone = false;
    let turn = 0;
    let timer: ReturnType<typeof setTimeout>;
    known.current = null;
    const refresh = async () => {
      if (document.hidden || sight.current[0] > 0 && known.current) return FOLLOW_MS; // who reads further down is not pushed away
      const records = recordsOf(subject, latest.current, field, known.current?.total ?? 0);
      await records.open();
      if (gone) return 0;
      if (known.current) records.exact = known.current.exact;
      known.current = records;
      setShown(records);
      setError('');
      if (turn++ % COUNT_EVERY === 0) await records.count();
      if (!gone) onCount({total: records.total, exact: records.exact});
      redraw((count) => count + 1);
      return following ? FOLLOW_MS : 0;
    };
    const again = () =>
      refresh()
        .catch((reason: unknown) => (gone || setError(reason instanceof HttpError ? reason.message : 'the program cannot be reached'), RETRY_MS))
        .then((ms) => ms && !gone && (timer = setTimeout(again, ms)));
    onCount(null);
    void again();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [topic, following]);
  const look = (first: number, last: number) => {
    sight.current = [first, last];
    shown?.want(first, last).then(() => redraw((count) => count + 1), (reason: unknown) => setError(reason instanceof Error ? reason.message : ''));
  };
  useEffect(() => look(...sight.current), [shown]);
  if (!shown) return error ? <p class="inline-error" role="alert">{error}</p> : <div class="loading" role="status"><i />Loading records…</div>;
  const first = subject.devices.length === 1 ? 1 : 0; // whose they are is said above
  const header = shown.header.slice(first);
  return (
    <>
      {error && <p class="inline-error" role="alert">{error}</p>}
      <Grid
        label="Records"
        headers={header.map((name, i) => ({key: `${i}`, title: headTitle(name, i + first === 1 ? zoneText(zoneName.value, moments.to) : units.get(name)), number: i + first > 1}))}
        total={shown.total}
        topic={topic}
        onSight={look}
        row={(index) => {
          const row = shown.row(index);
          return row && {cells: cellsOf(row, first)};
        }}
      />
    </>
  );
}

/** Around the table: how many there are. */
export function RecordPanel(props: Omit<RecordTableProps, 'onCount'>) {
  const [told, setTold] = useState<{total: number; exact: boolean} | null>(null);
  const title = told ? `${told.exact ? '' : 'about '}${formatCount(told.total)} records` : 'Records';
  return <Panel title={title} class="record-panel"><RecordTable {...props} onCount={setTold} /></Panel>;
}
