// quantity.ts: a number and its unit as the files of a scene have them: 0.25 rev, 1/4 rev, +1.5e1 deg; without a unit it is SI.
// src/model/unit.c reads them so, too.

/** A unit that a quantity may have, as GET /api/schema lists them: what one of it is in its unit of SI. */
export interface Unit {
  name: string;
  si: string;
  scale: number;
}

const NUMBER = String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const QUANTITY = new RegExp(String.raw`^[ \t]*([+-]?)(${NUMBER})(?:/(${NUMBER}))?[ \t]*([^ \t]*)[ \t]*$`);

/** Letters that plain keyboards lack, and what is written in their place. */
const SPELLINGS: [RegExp, string][] = [[/[\u00b7\u22c5*]/g, '-'], [/\u00b2/g, '^2'], [/[\u00b5\u03bc]/g, 'u'], [/[\u03a9\u2126]/g, 'Ohm']];
const plain = (name: string) => SPELLINGS.reduce((text, [written, ascii]) => text.replace(written, ascii), name);

/** In the unit `si`; null: it is no quantity of that kind. */
export function parseQuantity(text: string, si: string, units: readonly Unit[]): number | null {
  const [, sign, number, divisor = '1', name] = QUANTITY.exec(text) ?? [];
  if (number === undefined) return null;
  const unit = units.find((one) => one.si === si && (name ? plain(one.name) === plain(name) : one.name === si));
  const value = (Number(number) / Number(divisor)) * (unit?.scale ?? NaN) * (sign === '-' ? -1 : 1);
  return Number.isFinite(value) ? value : null;
}

/** Parts of a degree that are written: at 100 m away a tenth of a micrometre. */
const DEGREE_PARTS = 1e9;

/** A quarter turn on from an angle, within a turn and in degrees, as it is written; null: the text is no angle. */
export function quarterOn(text: string, units: readonly Unit[]): string | null {
  const angle = parseQuantity(text || '0', 'rad', units);
  if (angle === null) return null;
  const degrees = Math.round(((angle * 180) / Math.PI + 90) * DEGREE_PARTS) / DEGREE_PARTS;
  return `${degrees % 360} deg`;
}
