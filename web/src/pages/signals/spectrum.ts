// spectrum.ts: which frequencies a trace has, by an FFT; loaded when somebody asks for it.
import FFT from 'fft.js';
import type {Trace} from '../../live/decimate';

export interface Spectrum {
  /** Hz. */
  frequencies: number[];
  /** Of a sine of that frequency, in the trace's unit. */
  amplitudes: number[];
  /** Where the greatest amplitude is, between two of the frequencies if need be; NaN: there is none. */
  peak: {frequency: number; amplitude: number};
}

const NOTHING: Spectrum = {frequencies: [], amplitudes: [], peak: {frequency: NaN, amplitude: NaN}};
const FEWEST = 16;
/** Samples; more are thinned out. */
const MOST = 32_768;

/** At even times, on the lines between the samples, in [from, to]; what is no number is left out. */
export function evenly(trace: Trace, from: number, to: number): {values: Float64Array; interval: number} {
  const kept = trace.times.flatMap((_, i) => (Number.isFinite(trace.values[i]!) ? [i] : []));
  const times = kept.map((i) => trace.times[i]!);
  const values = kept.map((i) => trace.values[i]!);
  const begin = Math.max(from, times[0] ?? Infinity);
  const end = Math.min(to, times[times.length - 1] ?? -Infinity);
  const count = Math.min(MOST, times.filter((time) => time >= begin && time <= end).length);
  if (!(end > begin) || count < 2) return {values: new Float64Array(), interval: NaN};
  const interval = (end - begin) / (count - 1);
  const made = new Float64Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const time = begin + i * interval;
    while (at < times.length - 2 && times[at + 1]! <= time) at++;
    const share = (time - times[at]!) / (times[at + 1]! - times[at]!);
    made[i] = values[at]! + share * (values[at + 1]! - values[at]!);
  }
  return {values: made, interval};
}

/** The greatest by a parabola through it and its neighbours: a peak between two frequencies has neither's value. */
function peakOf(frequencies: number[], amplitudes: number[]): Spectrum['peak'] {
  let at = -1;
  for (let i = 1; i < amplitudes.length - 1; i++) if (amplitudes[i]! >= amplitudes[i - 1]! && amplitudes[i]! > amplitudes[i + 1]! && (at < 0 || amplitudes[i]! > amplitudes[at]!)) at = i;
  if (at < 0) return NOTHING.peak;
  const [a, b, c] = [amplitudes[at - 1]!, amplitudes[at]!, amplitudes[at + 1]!];
  const shift = (0.5 * (a - c)) / (a - 2 * b + c);
  return {frequency: frequencies[at]! + shift * (frequencies[1]! - frequencies[0]!), amplitude: b - 0.25 * (a - c) * shift};
}

/** Without the mean, seen through a Hann window. */
export function spectrumOf(trace: Trace, from: number, to: number): Spectrum {
  const {values, interval} = evenly(trace, from, to);
  const count = values.length;
  if (count < FEWEST) return NOTHING;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  // Zeros behind the samples: frequencies come closer to each other, and a peak is found better.
  const size = 2 ** Math.ceil(Math.log2(2 * count));
  const input = new Array<number>(size).fill(0);
  let weights = 0;
  for (let i = 0; i < count; i++) {
    const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (count - 1));
    input[i] = weight * (values[i]! - mean);
    weights += weight;
  }
  const fft = new FFT(size);
  const output = fft.createComplexArray() as number[];
  fft.realTransform(output, input);
  const frequencies: number[] = [];
  const amplitudes: number[] = [];
  for (let i = 0; i <= size / 2; i++) {
    frequencies.push(i / (size * interval));
    amplitudes.push((2 * Math.hypot(output[2 * i]!, output[2 * i + 1]!)) / weights);
  }
  return {frequencies, amplitudes, peak: peakOf(frequencies, amplitudes)};
}
