// units.ts: the units that people choose to read values in. What comes from the program is SI; src/model/unit.c has the same table.
import {stored} from '../settings';

interface Choice {
  unit: string;
  /** What one of it is in SI. */
  size: number;
}

const INCH = 0.0254;
const FOOT = 0.3048;
const POUND_FORCE = 4.4482216152605;
const TURN = 2 * Math.PI;

const sizes = (choices: Record<string, number>): Choice[] => Object.entries(choices).map(([unit, size]) => ({unit, size}));

/** By the SI unit; the first is SI itself. */
const CHOICES = new Map<string, Choice[]>(
  Object.entries({
    rad: sizes({rad: 1, deg: TURN / 360, rev: TURN}),
    'rad/s': sizes({'rad/s': 1, 'deg/s': TURN / 360, rpm: TURN / 60, 'rev/s': TURN}),
    'rad/s²': sizes({'rad/s²': 1, 'deg/s²': TURN / 360}),
    m: sizes({m: 1, mm: 0.001, cm: 0.01, in: INCH, ft: FOOT}),
    'm/s': sizes({'m/s': 1, 'km/h': 1000 / 3600, mph: 1609.344 / 3600, 'ft/s': FOOT, 'in/s': INCH}),
    'm/s²': sizes({'m/s²': 1, 'ft/s²': FOOT, 'in/s²': INCH}),
    N: sizes({N: 1, kN: 1000, lbf: POUND_FORCE}),
    'N·m': sizes({'N·m': 1, 'N·cm': 0.01, 'in·lbf': INCH * POUND_FORCE, 'ft·lbf': FOOT * POUND_FORCE}),
    kg: sizes({kg: 1, g: 0.001, lb: 0.45359237}),
    s: sizes({s: 1, ms: 0.001, min: 60}),
    V: sizes({V: 1, mV: 0.001}),
    A: sizes({A: 1, mA: 0.001}),
    W: sizes({W: 1, kW: 1000}),
  }),
);

/** What somebody chose in place of an SI unit; kept in this browser. */
export const chosenUnits = stored<Record<string, string>>('units', {});

/** Units that can stand in place of an SI unit; [] where there is nothing to choose. */
export function unitChoices(unit: string): string[] {
  return CHOICES.get(unit)?.map((choice) => choice.unit) ?? [];
}

function choiceOf(unit: string): Choice {
  const choices = CHOICES.get(unit);
  return choices?.find((choice) => choice.unit === chosenUnits.value[unit]) ?? {unit, size: 1};
}

export function chooseUnit(unit: string, chosen: string): void {
  const {[unit]: _, ...others} = chosenUnits.value;
  chosenUnits.value = chosen === unit ? others : {...others, [unit]: chosen};
}

/** What is wrong in `value` is left out. */
export function readUnits(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value as Record<string, unknown>).filter((pair): pair is [string, string] => CHOICES.get(pair[0])?.some(({unit}) => unit === pair[1]) ?? false));
}

/** The unit that a value of an SI unit is shown in. */
export function displayUnit(unit: string): string {
  return choiceOf(unit).unit;
}

/** What a value in SI is divided by to be shown. */
export function displaySize(unit: string): number {
  return choiceOf(unit).size;
}
