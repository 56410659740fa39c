// colours.ts: a scale of colours whose lightness grows evenly, so that it can be read without telling hues apart: viridis, without
// that end of it which the ground hides.
import {computed} from '@preact/signals';
import {dark} from '../../theme';

const STOPS = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [110, 206, 88],
  [181, 222, 43],
  [253, 231, 37],
] as const;
export const SHADES = 64;

const stops = computed(() => (dark.value ? STOPS.slice(2) : STOPS.slice(0, -1)));

function shade(share: number): string {
  const list = stops.value;
  const at = share * (list.length - 1);
  const low = Math.min(list.length - 2, Math.floor(at));
  const mix = (i: 0 | 1 | 2) => Math.round(list[low]![i] + (list[low + 1]![i] - list[low]![i]) * (at - low));
  return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
}

export const scale = computed(() => Array.from({length: SHADES}, (_, i) => shade(i / (SHADES - 1))));
export const gradient = computed(() => `linear-gradient(to right, ${stops.value.map(([r, g, b]) => `rgb(${r} ${g} ${b})`).join(', ')})`);

/** Which colour of the scale a value has between two others. */
export function shadeOf(value: number, least: number, greatest: number): number {
  return greatest > least ? Math.min(SHADES - 1, Math.max(0, Math.floor(((value - least) / (greatest - least)) * SHADES))) : SHADES >> 1;
}
