// scenes.ts: scenes that this program can run.
import * as expect from '../check';
import type {Checked} from '../check';
import {request} from '../http';
import {awaited, hello, notify} from './store';
import type {Chosen} from './store';
import type {Hello} from './types';

const scene = expect.object({
  /** As the program takes it; `title` is for people. */
  name: expect.text,
  title: expect.text,
  description: expect.text,
  /** Its path. */
  file: expect.text,
  /** Not one that comes with Tether. */
  own: expect.flag,
  /** From a draft, so that it can be deleted. */
  saved: expect.flag,
  /** The address of its picture. */
  picture: expect.text,
  current: expect.flag,
  /** Why it could not be opened when it was chosen last. */
  refused: expect.orNull(expect.text),
});
export type Scene = Checked<typeof scene>;
export const scenes = expect.listOf(scene);

/* ---- what the program goes on with ---- */

async function choose(title: string, url: string, body?: unknown): Promise<void> {
  awaited.value = {title, begun: `${title} begins.`}; // before the program ends its world
  try {
    await request('POST', url, body, expect.anything);
  } catch (error) {
    awaited.value = null;
    throw error;
  }
}

/** The program ends its world and goes on with this scene; pages come back to it by themselves, and say how it went. */
export const runScene = (name: string, title = name) => choose(title, 'api/scenes', {name});

/** The same with a draft. */
export const runDraft = (url: string, title: string) => choose(title, `${url}/run`);

/** Token of the world that was seen last. */
let seen: string | undefined;

function say({scene, refused}: Hello, chosen: Chosen | null): void {
  if (refused) notify(`${chosen?.title ?? refused.scene} could not be opened, so ${scene} began anew: ${refused.reason}`, 'error', true);
  else if (chosen) notify(chosen.begun);
}

/** For connection.ts: the program shows a world, which may be another than before. Whoever looks is told why it is not the one that was
 *  chosen, by whomever. */
export function noteWorld(now: Hello): void {
  const before = seen;
  seen = now.token;
  if (before === now.token) return;
  if (before !== undefined) say(now, awaited.peek());
  awaited.value = null;
}

/** The program goes on with what was chosen in the world of this token, or does already. */
export function awaitWorld(chosen: Chosen, token: string | undefined): void {
  if (seen === token) awaited.value = chosen;
  else say(hello.peek()!, chosen);
}
