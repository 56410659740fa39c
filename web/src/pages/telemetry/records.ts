// records.ts: a table of any length, the newest record first, of which only what is looked at is asked for. Pages go on from one another
// by the program's cursors; to a far place leads its moment, which is guessed from places that are known and then counted.
import type {Table} from './types';

export type Row = Table['records'][number];
export type Ask = (keys: Record<string, string>) => Promise<Table>;

/** Records of a page; one may be some longer. */
export const PAGE = 200;
/** From a known page to the next so many are read one after the other. */
const NEAR = 2 * PAGE;
const MOST_PAGES = 60;
/** Guesses of a moment; each may miss by a page more, since where records come in bursts walking is quicker than guessing. */
const GUESSES = 24;

interface Page {
  first: number;
  rows: Row[];
  /** Asked again with these keys the program goes on behind the last row; null: it was the last. */
  next: Record<string, string> | null;
}

/** A place in the table and its moment, µs UTC. */
export interface Anchor {
  index: number;
  time: number;
}

/** µs UTC, by which records are told from one another; of a time as tables write it. */
export function micros(text: string): number {
  const [, digits = ''] = /\.(\d+)/.exec(text) ?? [];
  return Date.parse(text) * 1000 + Number(digits.padEnd(6, '0').slice(3, 6));
}

/** The nearest anchors before a place, and behind it. */
function around(anchors: readonly Anchor[], index: number): [Anchor, Anchor] {
  const sorted = [...anchors].sort((a, b) => a.index - b.index || b.time - a.time);
  const behind = sorted.findIndex((anchor) => anchor.index >= index);
  const at = behind < 0 ? sorted.length - 1 : behind;
  return [sorted[Math.max(0, at - 1)]!, sorted[at]!];
}

/** The moment of a place, as if records were evenly spread between the anchors. */
export function timeAt(anchors: readonly Anchor[], index: number): number {
  const [a, b] = around(anchors, index);
  return b.index === a.index ? a.time : a.time + ((index - a.index) / (b.index - a.index)) * (b.time - a.time);
}

/** Where they are not, halving leads there. */
function midway(anchors: readonly Anchor[], index: number): number {
  const [a, b] = around(anchors, index);
  return (a.time + b.time) / 2;
}

export class Records {
  private pages: Page[] = [];
  private anchors: Anchor[] = [];
  private busy: Promise<void> | null = null;
  private counting: Promise<void> | null = null;
  header: string[] = [];
  /** Otherwise `total` is about right: there are too many to be counted. */
  exact = true;

  /** Of the stretch [from, to], µs UTC; `estimate` says how many there are where they are too many to be counted, and where some of them are. */
  constructor(
    private readonly ask: Ask,
    private readonly from: number,
    private readonly to: number,
    private readonly estimate: () => Promise<Anchor[]>,
    /** As many as there are thought to be until they are counted. */
    public total = 0,
  ) {}

  row(index: number): Row | null {
    const page = this.pageAt(index);
    return page?.rows[index - page.first] ?? null;
  }

  /** The newest records. */
  async open(): Promise<void> {
    const {records, next} = await this.page({order: 'newest'}, 0);
    this.total = next ? Math.max(this.total, records.length + 1) : records.length;
  }

  /** How many there are. */
  count(): Promise<void> {
    return (this.counting ??= this.countOnce());
  }

  private async countOnce(): Promise<void> {
    const table = await this.ask({...this.span(), order: 'newest', limit: '1', count: 'yes'});
    this.exact = table.count_is !== 'at least';
    this.total = table.count ?? 0;
    this.anchors = [{index: 0, time: this.to}, {index: this.total, time: this.from}];
    if (this.exact) return;
    const anchors = await this.estimate();
    if (anchors.length) this.anchors = anchors;
    this.total = Math.max(this.total, ...anchors.map(({index}) => index));
  }

  /** Gets the rows of a stretch of the table; one stretch at a time, the last one wanted. */
  async want(first: number, last: number): Promise<void> {
    while (this.busy) await this.busy;
    this.busy = this.get(first, Math.min(last, this.total - 1)).finally(() => (this.busy = null));
    return this.busy;
  }

  private async get(first: number, last: number): Promise<void> {
    for (let index = first; index <= last; ) {
      const page = this.pageAt(index);
      if (page) {
        index = page.first + page.rows.length;
        continue;
      }
      if (!(await this.read(index))) return;
    }
  }

  /** One more page, of which one is to have the row; false: there is none. */
  private async read(index: number): Promise<boolean> {
    await this.count();
    if (index < PAGE && !this.pageAt(0)) return (await this.page({order: 'newest'}, 0)).records.length > 0;
    const before = this.pages.filter((page) => page.first + page.rows.length <= index).pop();
    if (before && index - before.first - before.rows.length < NEAR && (await this.goOn(before, index))) return true;
    const behind = this.pages.find((page) => page.first > index);
    if (behind && behind.first - index <= NEAR) return this.readBefore(behind);
    if (this.total - index <= PAGE) return this.readEnd();
    return this.jump(index);
  }

  /** The page of newer records before a known one. */
  private async readBefore(behind: Page): Promise<boolean> {
    const edge = micros(String(behind.rows[0]![1]));
    const table = await this.ask({order: 'oldest', limit: String(PAGE), from: String(edge + 1), to: String(this.to)});
    const rows = table.records.slice(-behind.first).reverse();
    this.keep({first: behind.first - rows.length, rows, next: null});
    return rows.length > 0;
  }

  private async readEnd(): Promise<boolean> {
    const table = await this.ask({...this.span(), order: 'oldest', limit: String(PAGE)});
    const rows = table.records.slice(0, this.total).reverse();
    this.keep({first: this.total - rows.length, rows, next: null});
    return rows.length > 0;
  }

  private async jump(index: number): Promise<boolean> {
    const target = Math.max(0, index - PAGE / 4); // scrolling back needs some before it
    for (let guess = 0; ; guess++) {
      const to = String(Math.round(guess % 2 ? midway(this.anchors, target) : timeAt(this.anchors, target)));
      const keys = {order: 'newest', to};
      const table = await this.ask({...this.span(), ...keys, limit: String(PAGE), ...(this.exact && {count: 'yes'})});
      const first = this.exact ? this.total - (table.count ?? 0) : target;
      const enough = !this.exact || guess === GUESSES || (first <= index && index - first < NEAR + guess * PAGE);
      if (enough) return this.goOn(this.keepAnswer(table, keys, first), index);
      this.anchors.push({index: first, time: Number(to)}, ...table.records.slice(-1).map((row) => ({index: first + table.records.length - 1, time: micros(String(row[1]))})));
    }
  }

  /** From page to page until one has the row. */
  private async goOn(from: Page, index: number): Promise<boolean> {
    let page = from;
    while (page.next && page.first + page.rows.length <= index) {
      const first = page.first + page.rows.length;
      page = this.keepAnswer(await this.ask({...this.span(), ...page.next, limit: String(PAGE)}), page.next, first);
    }
    return !!this.pageAt(index);
  }

  private span(): Record<string, string> {
    return {from: String(this.from), to: String(this.to)};
  }

  private async page(keys: Record<string, string>, first: number): Promise<Table> {
    const table = await this.ask({...this.span(), ...keys, limit: String(PAGE)});
    this.keepAnswer(table, keys, first);
    return table;
  }

  private keepAnswer(table: Table, keys: Record<string, string>, first: number): Page {
    this.header = table.header;
    const page = {first, rows: table.records, next: table.next ? {...keys, cursor: table.next} : null};
    this.keep(page);
    return page;
  }

  /** Where places are guessed, pages may meet that overlap: the newer answer counts. */
  private keep(page: Page): void {
    if (!page.rows.length) return;
    const end = page.first + page.rows.length;
    this.pages = [...this.pages.filter(({first, rows}) => first + rows.length <= page.first || first >= end), page];
    if (this.pages.length > MOST_PAGES) this.pages.shift();
    this.pages.sort((a, b) => a.first - b.first);
  }

  private pageAt(index: number): Page | undefined {
    return this.pages.find(({first, rows}) => index >= first && index < first + rows.length);
  }
}

/** From a table of buckets of one field, in order of time: how many records there are, newest first, and where. */
export function anchorsOf(table: Table, length: number): Anchor[] {
  const anchors: Anchor[] = [];
  let index = 0;
  for (const record of [...table.records].reverse()) {
    const count = Number(record[5]);
    if (!count) continue;
    const begin = micros(String(record[1]));
    if (!anchors.length) anchors.push({index, time: begin + length});
    anchors.push({index: (index += count), time: begin});
  }
  return anchors;
}
