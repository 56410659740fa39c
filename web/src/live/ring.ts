// ring.ts: the last N samples of one signal, in two Float64Arrays that grow up to N, in order of arrival.
// Index 0 is the oldest sample kept. Times never go back within a ring: a reset clears it.

const FIRST_SIZE = 1024;

export class Ring {
  readonly capacity: number;
  private times: Float64Array;
  private values: Float64Array;
  private next = 0; // samples pushed since the last clear
  private first = 0; // of those, the oldest kept

  constructor(capacity: number) {
    this.capacity = capacity;
    this.times = new Float64Array(Math.min(FIRST_SIZE, capacity));
    this.values = new Float64Array(this.times.length);
  }

  get length(): number {
    return this.next - this.first;
  }

  push(time: number, value: number): void {
    if (this.length && time < this.time(this.length - 1)) this.clear();
    if (this.next === this.times.length && this.next < this.capacity) this.grow();
    const at = this.next % this.times.length;
    this.times[at] = time;
    this.values[at] = value;
    this.next++;
    if (this.length > this.capacity) this.first++;
  }

  clear(): void {
    this.next = 0;
    this.first = 0;
  }

  time(index: number): number {
    return this.times[(this.first + index) % this.times.length]!;
  }

  value(index: number): number {
    return this.values[(this.first + index) % this.values.length]!;
  }

  /** Index of the first sample at or after `time`; `length` when there is none. */
  find(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The value held at `time`: of the last sample not after it; NaN before the first. */
  at(time: number): number {
    let index = this.find(time);
    if (index === this.length || this.time(index) > time) index--;
    return index >= 0 ? this.value(index) : NaN;
  }

  /** Only before anything was overwritten, when index and place are the same. */
  private grow(): void {
    const size = Math.min(this.capacity, 2 * this.times.length);
    const times = new Float64Array(size);
    const values = new Float64Array(size);
    times.set(this.times);
    values.set(this.values);
    this.times = times;
    this.values = values;
  }
}
