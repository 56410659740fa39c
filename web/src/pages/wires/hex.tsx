// hex.tsx: a message as bytes, and as the byte table reads it: pointing at a field shows its bytes, and the other way round.
import {useState} from 'preact/hooks';
import {formatValue} from '../../format';
import type {Field} from '../../live/types';

const ROW = 16;
const MOST_ROWS = 64;

export function bytesOf(hex: string): number[] {
  return (hex.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16));
}

function fieldAt(fields: Field[], byte: number): number {
  return fields.findIndex(({offset, size}) => byte >= offset && byte < offset + size);
}

const printable = (byte: number) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

export function showField(value: Field['value']): string {
  return typeof value === 'number' ? formatValue(value, 6) : value === null ? '–' : String(value);
}

interface MessageProps {
  hex: string;
  fields: Field[];
  /** What is wrong with it; the field that it names in brackets stands out. */
  complaint?: string;
}

export function Message({hex, fields, complaint = ''}: MessageProps) {
  const [marked, setMarked] = useState(-1);
  const bytes = bytesOf(hex);
  const wrong = fields.findIndex(({name}) => complaint.includes(`(${name})`));
  const rows = Math.min(MOST_ROWS, Math.ceil(bytes.length / ROW));
  return (
    <div class="message">
      <table class="fields">
        <thead>
          <tr><th class="number">offset</th><th class="number">bytes</th><th>field</th><th class="number">value</th></tr>
        </thead>
        <tbody>
          {fields.map((field, i) => (
            <tr key={i} class={marked === i ? 'marked' : wrong === i ? 'wrong' : ''} onMouseEnter={() => setMarked(i)} onMouseLeave={() => setMarked(-1)}>
              <td class="number muted">{field.offset}</td>
              <td class="number muted">{field.size}</td>
              <td>{field.name}</td>
              <td class="number mono">{showField(field.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
                    class={`byte${field >= 0 && field === marked ? ' marked' : field >= 0 && field === wrong ? ' wrong' : ''}${field >= 0 && field % 2 ? ' odd' : ''}`}
                    onMouseEnter={() => setMarked(field)}
                    onMouseLeave={() => setMarked(-1)}
                  >
                    {byte.toString(16).padStart(2, '0')}
                  </span>
                );
              })}
            </span>
            <span class="hex-text">{bytes.slice(row * ROW, (row + 1) * ROW).map(printable).join('')}</span>
          </div>
        ))}
        {bytes.length > MOST_ROWS * ROW && <p class="muted">{bytes.length - MOST_ROWS * ROW} bytes more</p>}
      </div>
    </div>
  );
}
