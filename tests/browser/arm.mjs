// arm.mjs: runs of the large arm, driven over lockstep-tcp: its swivel goes to 1 rad, and may go farther on the way.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {join} from 'node:path';
import {set, start} from './harness.mjs';

const FRAME = 48; // bytes: u64 number, ten f32 angles
const JOINTS = 10;
const DAY_MS = 24 * 3600 * 1000;

/** Answers each frame with ten velocities, until the run is over. */
async function drive(address, velocityOf) {
  const [host, port] = address.split(':');
  const link = connect(Number(port), host);
  let bytes = Buffer.alloc(0);
  link.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    while (bytes.length >= FRAME) {
      const answer = Buffer.alloc(4 * JOINTS);
      answer.writeFloatBE(velocityOf(bytes.readFloatBE(8)), 0);
      bytes = bytes.subarray(FRAME);
      link.write(answer);
    }
  });
  link.on('error', () => undefined); // the run is over
  await new Promise((over) => link.on('close', over));
}

/** Keeps a run of `seconds` as `name` in the folder of a state; the swivel goes to `peak` first, then to 1 rad. It began `days` ago, as its
 *  log says. */
export async function recordArm(t, state, name, {seconds = 6, peak = 1, wait = 0, days = 0} = {}) {
  const folder = join(state, 'tether/runs');
  mkdirSync(folder, {recursive: true});
  const log = join(folder, `${name}.wpilog`);
  const settings = set({'wires.lockstep-tcp.listen': '127.0.0.1:0'});
  const tether = await start(t, ['run', 'gripper', '--duration', String(seconds), '--record', log, '--no-web', ...settings], state);
  let frames = 0;
  let farthest = 0;
  await drive(tether.addresses['lockstep-tcp'], (swivel) => {
    farthest = Math.max(farthest, swivel);
    if (frames++ < 60 * wait) return 0;
    if (farthest < peak - 0.02) return 0.6;
    return Math.max(-0.6, Math.min(0.6, 4 * (1 - swivel)));
  });
  await tether.ended;
  if (days) beginEarlier(log, days);
  return log;
}

/** Moves the date that stands in the log by whole days. */
function beginEarlier(log, days) {
  const bytes = readFileSync(log, 'latin1');
  const [, date] = /"started":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"/.exec(bytes);
  const earlier = new Date(new Date(date).getTime() - days * DAY_MS).toISOString().replace(/\.\d+/, '');
  writeFileSync(log, bytes.replace(date, earlier), 'latin1');
}
