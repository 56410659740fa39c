// types.ts: kept runs over HTTP: docs/web.md.

export interface Run {
  id: string;
  file: string; // its path where the program runs
  pinned: boolean;
  scene: string;
  started: string;
  duration: number;
  size: number;
  outcome: string;
  recording: boolean;
}

export interface RunDetail extends Run {
  signals: {name: string; unit: string}[];
  events: {time: number; step: number; source: string; text: string}[];
}

export interface RunSamples {
  time: number[];
  values: number[][];
}

export const POINTS = 2000;

export function samplesUrl(id: string, names: string[]): string {
  if (!names.length) return '';
  const query = new URLSearchParams(names.map((name) => ['name', name]));
  query.set('points', String(POINTS));
  return `api/runs/${encodeURIComponent(id)}/signals?${query}`;
}

/** Made anew once the run is over; until then it shows where the robots were when it was first asked for. */
export function pictureUrl(run: Run): string {
  return `api/runs/${encodeURIComponent(run.id)}/picture${run.recording ? '' : `?size=${run.size}`}`;
}
