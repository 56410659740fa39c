// export.ts: what is shown, as files: CSV of the raw samples, PNG of the plots.
import {csvCell} from '../../format';
import {titleOf} from '../../live/expression';
import {rowsOf} from '../../live/rows';
import {notify} from '../../live/store';
import {cssColor} from '../../theme';
import {save} from '../../ui/download';

/** One row a sample time, one column a signal in its unit, of which one is `sizes` in SI; empty where a signal has no sample at that time. */
async function toCsv(names: string[], units: string[], sizes: number[], from: number, to: number): Promise<{csv: string; missing: string[]}> {
  const header = ['time [s]', ...names.map((name, i) => (units[i] ? `${titleOf(name)} [${units[i]}]` : titleOf(name)))];
  const {times, columns, missing} = await rowsOf(names, from, to);
  const lines = times.map((time, row) => [time, ...columns.map((column, i) => column[row]! / sizes[i]!)].map(csvCell).join(','));
  return {csv: [header.map(csvCell).join(','), ...lines, ''].join('\r\n'), missing};
}

export function saveCsv(names: string[], units: string[], sizes: number[], from: number, to: number): void {
  toCsv(names, units, sizes, from, to).then(
    ({csv, missing}) => {
      save('tether-signals.csv', new Blob([csv], {type: 'text/csv'}));
      if (missing.length) notify(`This run has no ${missing.join(', ')}: nothing of it stands in the file.`);
    },
    (error: unknown) => notify(`The file could not be made: ${(error as Error).message}`, 'error'),
  );
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
