// hex.tsx: a message as bytes, and as the byte table reads it: pointing at a field shows its bytes, and the other way round.
import {useState} from 'preact/hooks';
import type {Field} from '../../live/types';

const ROW = 16;
const MOST_ROWS = 64;
/** Bytes of one field in the table. */
const MOST_IN_CELL = 8;

export function bytesOf(hex: string): number[] {
  return (hex.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16));
}

function fieldAt(fields: Field[], byte: number): number {
  return fields.findIndex(({offset, size}) => byte >= offset && byte < offset + size);
}

const printable = (byte: number) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

const twoDigits = (byte: number) => byte.toString(16).padStart(2, '0');

/** The bytes of a field as the table shows them; of a long text its beginning. */
function bytesIn(bytes: number[], {offset, size}: Field): string {
  const shown = bytes.slice(offset, offset + Math.min(size, MOST_IN_CELL)).map(twoDigits).join(' ');
  return size > MOST_IN_CELL ? `${shown} …` : shown;
}

interface MessageProps {
  /** Its own size in bytes; `hex` may hold its beginning only. */
  size: number;
  hex: string;
  fields: Field[];
  /** What is wrong with it; the field that it names in brackets stands out, as do those that are wrong in themselves. */
  complaint?: string;
}

export function Message({size, hex, fields, complaint = ''}: MessageProps) {
  const [marked, setMarked] = useState(-1);
  const bytes = bytesOf(hex);
  const wrong = fields.map((field) => field.wrong || complaint.includes(`(${field.name})`));
  const rows = Math.min(MOST_ROWS, Math.ceil(bytes.length / ROW));
  const more = size - Math.min(bytes.length, MOST_ROWS * ROW);
  return (
    <div class="message">
      <div class="scroll fields-scroll" tabIndex={0} role="group" aria-label="Fields of the message">
        <table class="fields">
          <thead>
            <tr><th class="number">offset</th><th>bytes</th><th>field</th><th class="number">value</th><th>unit</th></tr>
          </thead>
          <tbody>
            {fields.map((field, i) => (
              <tr key={i} class={marked === i ? 'marked' : wrong[i] ? 'wrong' : ''} onMouseEnter={() => setMarked(i)} onMouseLeave={() => setMarked(-1)}>
                <td class="number muted">{field.offset}</td>
                <td class="mono muted raw">{bytesIn(bytes, field)}</td>
                <td>{field.name}{wrong[i] && <span class="visually-hidden"> (wrong)</span>}</td>
                <td class="number mono">{field.value}</td>
                <td class="muted">{field.unit}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {!fields.length && <p class="muted none">No field can be told apart.</p>}
      </div>
      <div class="hex mono" tabIndex={0} role="group" aria-label={`${bytes.length} bytes`}>
        {Array.from({length: rows}, (_, row) => (
          <div key={row} class="hex-row">
            <span class="hex-offset">{(row * ROW).toString(16).padStart(4, '0')}</span>
            <span class="hex-bytes">
              {bytes.slice(row * ROW, (row + 1) * ROW).map((byte, i) => {
                const field = fieldAt(fields, row * ROW + i);
                return (
                  <span
                    key={i}
                    class={`byte${field >= 0 && field === marked ? ' marked' : wrong[field] ? ' wrong' : ''}${field >= 0 && field % 2 ? ' odd' : ''}`}
                    onMouseEnter={() => setMarked(field)}
                    onMouseLeave={() => setMarked(-1)}
                  >
                    {twoDigits(byte)}
                  </span>
                );
              })}
            </span>
            <span class="hex-text">{bytes.slice(row * ROW, (row + 1) * ROW).map(printable).join('')}</span>
          </div>
        ))}
        {more > 0 && <p class="muted">{more} bytes more</p>}
      </div>
    </div>
  );
}
