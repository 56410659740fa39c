// scenes.ts: scenes that this program can run.
import * as expect from '../check';
import type {Checked} from '../check';
import {request} from '../http';
import {awaited} from './store';

const scene = expect.object({
  /** As the program takes it; `title` is for people. */
  name: expect.text,
  title: expect.text,
  description: expect.text,
  /** Its path. */
  file: expect.text,
  /** Not one that comes with Tether. */
  own: expect.flag,
  /** The address of its picture. */
  picture: expect.text,
  current: expect.flag,
  /** Why it could not be opened when it was chosen last. */
  refused: expect.orNull(expect.text),
});
export type Scene = Checked<typeof scene>;
export const scenes = expect.listOf(scene);

/** The program ends its world and goes on with this scene; pages come back to it by themselves. */
export async function runScene(name: string): Promise<void> {
  awaited.value = name; // before the program ends its world
  try {
    await request('POST', 'api/scenes', {name}, expect.anything);
  } catch (error) {
    awaited.value = null;
    throw error;
  }
}
