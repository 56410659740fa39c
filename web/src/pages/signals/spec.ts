// spec.ts: what a plot shows, as it is kept in the browser, on the server and in files; what comes from there is checked here.

export const MAX_TRACES = 20;

export type Side = 'left' | 'right';
export type Style = 'line' | 'band';

/** A signal's name, or a formula (live/expression.ts). */
export interface PlotTrace {
  name: string;
  colour: number; // 1…MAX_TRACES; it stays a trace's own when others go
  /** Left out: by its unit. */
  side?: Side;
  /** Left out: a state is a band, anything else a line. */
  style?: Style;
}

/** Left out: over time. */
export type PlotKind = 'xy' | 'histogram' | 'spectrum';

export interface PlotSpec {
  id: number;
  traces: PlotTrace[];
  kind?: PlotKind;
  /** Axes that do not follow what is there: least and greatest, SI. */
  fixed?: Partial<Record<Side, [number, number]>>;
  /** Of a spectrum: amplitudes in dB, and the frequency it ends at, Hz. */
  decibels?: boolean;
  upTo?: number;
}

const MOST_PLOTS = 50;
const LONGEST_NAME = 500;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first colour that no trace has. */
export function freeColour(traces: readonly PlotTrace[]): number {
  for (let colour = 1; colour < MAX_TRACES; colour++) if (!traces.some((trace) => trace.colour === colour)) return colour;
  return MAX_TRACES;
}

export function withTrace(traces: readonly PlotTrace[], name: string, known: Partial<PlotTrace> = {}): PlotTrace[] {
  if (traces.length >= MAX_TRACES || traces.some((trace) => trace.name === name)) return [...traces];
  return [...traces, {...known, name, colour: known.colour ?? freeColour(traces)}];
}

const among = <T>(value: unknown, choices: readonly T[]): T | undefined => choices.find((choice) => choice === value);

function readTrace(value: unknown): (Partial<PlotTrace> & {name: string}) | null {
  const given = typeof value === 'string' ? {name: value} : value; // as pages kept it before colours
  if (!isObject(given) || typeof given.name !== 'string' || !given.name || given.name.length > LONGEST_NAME) return null;
  const trace: Partial<PlotTrace> & {name: string} = {name: given.name};
  const {colour} = given;
  if (typeof colour === 'number' && Number.isInteger(colour) && colour >= 1 && colour <= MAX_TRACES) trace.colour = colour;
  const side = among<Side>(given.side, ['left', 'right']);
  const style = among<Style>(given.style, ['line', 'band']);
  return {...trace, ...(side && {side}), ...(style && {style})};
}

function readRange(value: unknown): [number, number] | null {
  const [low, high] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof low === 'number' && typeof high === 'number' && Number.isFinite(low) && Number.isFinite(high) && low < high ? [low, high] : null;
}

function readFixed(value: unknown): PlotSpec['fixed'] {
  if (!isObject(value)) return undefined;
  const sides = (['left', 'right'] as const).flatMap((side) => {
    const range = readRange(value[side]);
    return range ? [[side, range] as const] : [];
  });
  return sides.length ? Object.fromEntries(sides) : undefined;
}

function readPlot(value: unknown, id: number): PlotSpec | null {
  if (!isObject(value)) return null;
  const listed = Array.isArray(value.traces) ? value.traces : Array.isArray(value.names) ? value.names : [];
  let traces: PlotTrace[] = [];
  for (const each of listed) {
    const trace = readTrace(each);
    if (trace) traces = withTrace(traces, trace.name, trace);
  }
  const fixed = readFixed(value.fixed);
  const kind = among<PlotKind>(value.kind, ['xy', 'histogram', 'spectrum']);
  const upTo = typeof value.upTo === 'number' && value.upTo > 0 && Number.isFinite(value.upTo) ? value.upTo : undefined;
  return {id, traces, ...(kind && {kind}), ...(fixed && {fixed}), ...(value.decibels === true && {decibels: true}), ...(upTo && {upTo})};
}

/** What is wrong is left out. */
export function readPlots(value: unknown): PlotSpec[] {
  if (!Array.isArray(value)) return [{id: 1, traces: []}];
  return value.slice(0, MOST_PLOTS).flatMap((each, i) => readPlot(each, i + 1) ?? []);
}
