// export.ts: what is shown, as files: CSV of the raw samples, PNG of the plots.
import {csvCell} from '../../format';
import {ring} from '../../live/samples';
import {cssColor} from '../../theme';

export function save(name: string, data: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** One row a sample time, one column a signal; empty where a signal has no sample at that time. */
export function toCsv(names: string[], units: string[], from: number, to: number): string {
  const header = ['time [s]', ...names.map((name, i) => (units[i] ? `${name} [${units[i]}]` : name))];
  const next = names.map((name) => ring(name)?.find(from) ?? 0);
  const lines = [header.map(csvCell).join(',')];
  for (;;) {
    const times = names.map((name, i) => {
      const kept = ring(name);
      return kept && next[i]! < kept.length ? kept.time(next[i]!) : Infinity;
    });
    const time = Math.min(...times);
    if (!(time <= to)) break;
    const cells = names.map((name, i) => (times[i] === time ? csvCell(ring(name)!.value(next[i]!++)) : ''));
    lines.push([csvCell(time), ...cells].join(','));
  }
  return lines.join('\r\n') + '\r\n';
}

export function saveCsv(names: string[], units: string[], from: number, to: number): void {
  save('tether-signals.csv', new Blob([toCsv(names, units, from, to)], {type: 'text/csv'}));
}

/** All plots below one another, each with its legend. */
export function savePng(plots: {canvas: HTMLCanvasElement; legend: {text: string; colour: string}[]}[]): void {
  const ratio = devicePixelRatio;
  const head = 26 * ratio;
  const width = Math.max(...plots.map(({canvas}) => canvas.width));
  const height = plots.reduce((sum, {canvas}) => sum + canvas.height + head, 0);
  const sheet = document.createElement('canvas');
  sheet.width = width;
  sheet.height = height;
  const context = sheet.getContext('2d')!;
  context.fillStyle = cssColor('--panel');
  context.fillRect(0, 0, width, height);
  context.font = `${12 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
  let y = 0;
  for (const {canvas, legend} of plots) {
    let x = 12 * ratio;
    for (const {text, colour} of legend) {
      context.fillStyle = colour;
      context.fillText(text, x, y + 18 * ratio);
      x += context.measureText(text).width + 18 * ratio;
    }
    context.drawImage(canvas, 0, y + head);
    y += canvas.height + head;
  }
  sheet.toBlob((blob) => blob && save('tether-signals.png', blob), 'image/png');
}
