// offers.ts: what the program at this address has. It may simulate, or only collect telemetry, or make a sweep: pages that would
// have nothing to show are not there, and nothing asks for what it does not have.
import {computed, signal} from '@preact/signals';
import {listOf, object, oneOf, text} from '../check';
import type {Checked} from '../check';
import {ROLES} from '../role';
import type {Page} from '../route';

/** GET /api/access, as far as pages need it. */
export const checkAccess = object({role: oneOf(...ROLES), routes: listOf(object({path: text})), sockets: listOf(object({path: text}))});
export type Access = Checked<typeof checkAccess>;

/** Its paths, sockets included; null: it has not answered yet. Filled by connection.ts alone. */
const paths = signal<ReadonlySet<string> | null>(null);

/** The path without which a page has nothing to show; in the order in which pages are named. */
const NEEDS: Record<Page, string> = {
  world: '/live',
  signals: '/live',
  wires: '/live',
  drive: '/live',
  telemetry: '/telemetry.json',
  runs: '/api/runs',
  sweeps: '/api/sweeps',
  trials: '/api/trials',
  build: '/api/drafts',
};

export function takeAccess({routes, sockets}: Access): void {
  paths.value = new Set([...routes, ...sockets].map(({path}) => path));
}

/** Whether the program answers at a path; true as long as that is not known. */
export function offers(path: string): boolean {
  return paths.value?.has(path) ?? true;
}

/** Pages that have something to show. */
export const pages = computed<readonly Page[]>(() => (Object.keys(NEEDS) as Page[]).filter((page) => offers(NEEDS[page])));
