// others.ts: every page but the world: one chunk, since each alone is small.
export {Drive} from './drive/drive';
export {Runs} from './runs/runs';
export {Signals} from './signals/signals';
export {Telemetry} from './telemetry/telemetry';
export {Trials} from './trials/trials';
export {Wires} from './wires/wires';
