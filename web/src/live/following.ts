// following.ts: answers that follow the moment: a hand that drags asks for more than can be answered, so the newest question waits for
// the answer before and the others are forgotten.
import {signal} from '@preact/signals';

/** A question that failed is asked again after this, ms, unless another came; so often. */
const REST_MS = 500;
const MOST_TRIES = 10;

export interface Followed<T> {
  run: string;
  time: number; // s of the run that was asked for
  value: T;
}

export class Following<T> {
  /** The newest answer. */
  readonly answer = signal<Followed<T> | null>(null);
  private wanted: {run: string; time: number} | null = null;
  private asking = false;
  private failures = 0;

  /** `pause`: ms between an answer and the next question. */
  constructor(
    private readonly ask: (run: string, time: number) => Promise<T>,
    private readonly pause = 0,
  ) {}

  /** What is known of a moment of a run is `answer`, sooner or later. */
  want(run: string, time: number): void {
    const known = this.answer.peek();
    if (known?.run === run && known.time === time) return;
    this.wanted = {run, time};
    this.failures = 0;
    if (!this.asking) void this.next();
  }

  private async next(): Promise<void> {
    const {run, time} = this.wanted!;
    this.wanted = null;
    this.asking = true;
    let rest = this.pause;
    try {
      this.answer.value = {run, time, value: await this.ask(run, time)};
      this.failures = 0;
    } catch {
      rest = REST_MS;
      if (++this.failures < MOST_TRIES) this.wanted ??= {run, time};
    }
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    this.asking = false;
    if (this.wanted) void this.next();
  }
}
