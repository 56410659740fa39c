// stations.ts: where drivers stand.
import type {Model} from '../live/types';
import type {Place} from './cameras';

/** The place of a robot's driver: that of its station, else the first of its alliance, else the first; null: the arena's file names none. */
export function stationOf({stations = [], robots}: Model, robot: number, place: string | null): Place | null {
  const alliance = robots[robot]?.alliance ?? '';
  const find = (test: (place: string) => boolean) => stations.find((station) => test(station.place));
  return find((each) => each === place) ?? find((each) => alliance !== '' && each.startsWith(alliance)) ?? stations[0] ?? null;
}
