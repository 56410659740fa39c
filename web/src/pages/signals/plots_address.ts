// plots_address.ts: plots as the address has them, so that who gets it sees the same: #signals?plot=arm.position;arm.velocity~r&plot=@xy;x;y
import {MAX_TRACES, readPlots} from './spec';
import type {PlotSpec, PlotTrace, Side} from './spec';

/** What has a meaning between names is written as in addresses. */
const escaped = (text: string) => text.replace(/[%;~@]/g, (sign) => encodeURIComponent(sign).replace('~', '%7E'));

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // somebody mistyped it
  }
}

const FLAGS: [keyof PlotTrace, string, string][] = [['side', 'left', 'l'], ['side', 'right', 'r'], ['style', 'line', 'i'], ['style', 'band', 'b']];

function textOfTrace(trace: PlotTrace, place: number): string {
  const flags = FLAGS.filter(([key, value]) => trace[key] === value).map(([, , flag]) => flag);
  if (trace.colour !== place + 1) flags.push(String(trace.colour));
  return escaped(trace.name) + (flags.length ? `~${flags.join('')}` : '');
}

export function textOfPlot({traces, kind, fixed, decibels, upTo}: PlotSpec): string {
  const sides = (['left', 'right'] as const).flatMap((side) => (fixed?.[side] ? [`@${side}:${fixed[side][0]}..${fixed[side][1]}`] : []));
  return [...(kind ? [`@${kind}`] : []), ...(decibels ? ['@dB'] : []), ...(upTo ? [`@to:${upTo}`] : []), ...sides, ...traces.map(textOfTrace)].join(';');
}

function readTrace(text: string, place: number): Record<string, unknown> {
  const [name = '', flags = ''] = text.split('~');
  const known = FLAGS.filter(([, , flag]) => flags.includes(flag)).map(([key, value]) => [key, value]);
  const colour = Number(/\d+/.exec(flags)?.[0] ?? (place % MAX_TRACES) + 1);
  return {name: unescaped(name), colour, ...Object.fromEntries(known)};
}

function readOption(text: string): Record<string, unknown> {
  if (text === 'dB') return {decibels: true};
  if (text.startsWith('to:')) return {upTo: Number(text.slice(3))};
  const range = /^(left|right):(.+)\.\.(.+)$/.exec(text);
  return range ? {fixed: {[range[1] as Side]: [Number(range[2]), Number(range[3])]}} : {kind: text};
}

function readPlot(text: string): Record<string, unknown> {
  const parts = text.split(';').filter(Boolean);
  const options = parts.filter((part) => part.startsWith('@')).map((part) => readOption(part.slice(1)));
  const fixed = Object.assign({}, ...options.map((option) => option.fixed)) as object;
  return {...Object.assign({}, ...options), fixed, traces: parts.filter((part) => !part.startsWith('@')).map(readTrace)};
}

/** What is wrong is left out. */
export function plotsOfTexts(texts: readonly string[]): PlotSpec[] {
  return readPlots(texts.map(readPlot));
}

export function textOfUnits(units: Readonly<Record<string, string>>): string | null {
  return Object.entries(units).map(([unit, chosen]) => `${unit}:${chosen}`).join(',') || null;
}

export function unitsOfText(text: string): Record<string, string> {
  return Object.fromEntries(text.split(',').map((pair) => pair.split(':')));
}
