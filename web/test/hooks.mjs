// hooks.mjs: calls hooks without a page: they run in a component that draws nothing.
import {load} from './load.mjs';

/** Waits for what hooks do after a picture or an answer. */
export async function until(holds) {
  for (let i = 0; i < 200 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Modules as load() gives them, and `run`: it calls a function with hooks now, and again whenever they say so. Gives a function that
 *  calls it with other arguments; `now` of it is what it gave last, `end` of it takes the component from the page. */
export async function loadHooks(what) {
  const {preact, ...modules} = await load({preact: '../node_modules/preact/dist/preact.mjs', ...what});
  const run = (hook, ...first) => {
    const parent = {nodeType: 1, childNodes: [], firstChild: null, insertBefore() {}, appendChild() {}};
    const Component = ({values}) => ((call.now = hook(...values)), null);
    const call = (...values) => preact.render(preact.h(Component, {values}), parent);
    call.end = () => preact.render(null, parent);
    call(...first);
    return call;
  };
  return {...modules, run};
}
