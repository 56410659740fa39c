// points.ts: what the program says of the least and greatest of each stretch, as traces that a chart draws.
import type {Table} from './types';

/** One field of one device. */
export interface Series {
  device: string;
  field: string; // as its column is headed
  times: number[]; // ms UTC, beginnings of stretches
  least: number[];
  greatest: number[];
}

/** Of each device and field in a table of points, those with numbers; in order of devices, then of columns. */
export function seriesOf(table: Table): Series[] {
  const found = new Map<string, Series>();
  for (const record of table.records) {
    const device = String(record[0]);
    const time = Date.parse(String(record[1]));
    for (let column = 2; column + 1 < record.length; column += 2) {
      const least = record[column];
      const greatest = record[column + 1];
      if (typeof least !== 'number' || typeof greatest !== 'number') continue;
      const field = table.header[column]!.replace(/ least$/, '');
      const key = JSON.stringify([device, column]);
      let series = found.get(key);
      if (!series) found.set(key, (series = {device, field, times: [], least: [], greatest: []}));
      series.times.push(time);
      series.least.push(least);
      series.greatest.push(greatest);
    }
  }
  return [...found.values()];
}

/** A line is broken where this many times the usual distance is missing. */
const GAP = 3.5;

/** ms above which two points of a trace have nothing between them. */
export function gapOf(times: readonly number[]): number {
  const distances = times.slice(1).map((time, i) => time - times[i]!).sort((a, b) => a - b);
  return distances.length ? GAP * distances[distances.length >> 1]! : Infinity;
}

export interface Aligned {
  times: number[]; // s UTC
  /** Of each series least and greatest; undefined: nothing of it stands here, its line goes on; null: its line is broken here. */
  columns: (number | null | undefined)[][];
}

/** One axis of time for all, as uPlot needs it. */
export function align(all: readonly Series[]): Aligned {
  const breaks = all.map(({times}) => {
    const gap = gapOf(times);
    return times.flatMap((time, i) => (i > 0 && time - times[i - 1]! > gap ? [(time + times[i - 1]!) / 2] : []));
  });
  const moments = [...new Set([...all.flatMap(({times}) => times), ...breaks.flat()])].sort((a, b) => a - b);
  const place = new Map(moments.map((moment, i) => [moment, i]));
  const columns = all.flatMap((series, s) => {
    const fill = (values: readonly number[]) => {
      const column = new Array<number | null | undefined>(moments.length).fill(undefined);
      for (const moment of breaks[s]!) column[place.get(moment)!] = null;
      series.times.forEach((time, i) => (column[place.get(time)!] = values[i]!));
      return column;
    };
    return [fill(series.least), fill(series.greatest)];
  });
  return {times: moments.map((moment) => moment / 1000), columns};
}
