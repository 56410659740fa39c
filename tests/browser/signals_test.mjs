// A plotted value is what a wire's client received.
import dgram from 'node:dgram';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {assert, atEnd, openBrowser, openPage, plot, shownValue, startTether, until} from './harness.mjs';

/** Sensors of scenes/frc2011.yaml, in their order. */
const SENSORS = ['time', 'left_wheel.position', 'right_wheel.position', 'arm.position', 'wrist.position', 'left_wheel.velocity', 'right_wheel.velocity', 'arm.velocity'];

test('what a plot exports is what the wire sent', async (t) => {
  const socket = dgram.createSocket('udp4');
  atEnd(t, () => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const received = new Map(); // time, as a float, -> all floats
  socket.on('message', (bytes) => {
    const floats = Array.from({length: bytes.length / 4}, (_, i) => bytes.readFloatLE(4 * i));
    received.set(floats[0], floats);
  });
  const tether = await startTether(t, 'frc2011', {
    'wires.float-udp.bind': '127.0.0.1:0',
    'wires.float-udp.peer': `127.0.0.1:${socket.address().port}`,
  });
  const browser = await openBrowser(t);
  const {page, troubles} = await openPage(browser, tether.url, {hash: 'signals'});
  const names = ['arm.position', 'arm.velocity', 'left_wheel.position'];
  await plot(page, names);
  const before = received.size;
  await until('a second of samples has come', () => received.size - before, (count) => count > 100);
  await page.getByRole('button', {name: 'Freeze'}).click();

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  const header = lines[0].split(',').map((cell) => cell.replace(/ \[.*/, ''));
  assert.deepEqual(header, ['time', ...names]);
  let compared = 0;
  for (const line of lines.slice(1)) {
    const cells = line.split(',');
    const sent = received.get(Math.fround(Number(cells[0])));
    if (!sent) continue;
    names.forEach((name, i) => {
      if (cells[i + 1] === '') return;
      const [value, wire] = [Number(cells[i + 1]), sent[SENSORS.indexOf(name)]];
      // The log leaves out what changes by less than 1e-9.
      assert.ok(Math.fround(value) === wire || Math.abs(value - wire) < 2e-9, `${name} at ${cells[0]}: ${value}, ${wire}`);
      compared++;
    });
  }
  t.diagnostic(`${compared} values of ${lines.length - 1} samples compared`);
  assert.ok(compared > 100);

  const [picture] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as PNG'}).click()]);
  assert.equal(readFileSync(await picture.path()).subarray(1, 4).toString(), 'PNG');

  await t.test('a bad message is shown field by field', async () => {
    const [host, port] = tether.addresses['float-udp'].split(':');
    const bytes = Buffer.alloc(24);
    bytes.writeFloatLE(NaN, 12);
    socket.send(bytes, Number(port), host);
    await page.evaluate(() => (location.hash = 'wires'));
    const wrong = page.locator('.panel.bad tr.wrong');
    await until('the wrong field stands out', () => wrong.locator('td').allTextContents(), (cells) => cells.join() === '12,00 00 c0 7f,arm.torque (wrong),nan,in·lbf');
    await page.locator('.monitor .fields td', {hasText: 'left_wheel.position'}).waitFor();
    await page.evaluate(() => (location.hash = 'signals'));
  });

  await t.test('a robot has its speed, a formula, on top', async () => {
    await page.getByRole('button', {name: 'Add a plot'}).click();
    await page.locator('[data-shortcut="speed"]').click();
    await plot(page, ['chassis.vx', 'chassis.vy']);
    assert.equal(await page.locator('[data-signal="wall_left.x"]').count(), 0, 'what cannot move is hidden');
    const values = async () => {
      const [table] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
      const [header, ...rows] = readFileSync(await table.path(), 'utf8').trim().split('\r\n').map((line) => line.split(','));
      const [speed, vx, vy] = ['speed [m/s]', 'chassis.vx [m/s]', 'chassis.vy [m/s]'].map((name) => header.indexOf(name));
      return rows.map((row) => [row[speed], row[vx], row[vy]]).filter((row) => row.every(Boolean));
    };
    const whole = await until('samples of all three have come', values, (rows) => rows.length > 0);
    for (const [speed, vx, vy] of whole) assert.ok(Math.abs(Number(speed) - Math.hypot(Number(vx), Number(vy))) < 1e-8);

    await plot(page, ['chassis.x', 'grip.held']);
    const drawn = page.getByRole('img', {name: /^Plot of speed/});
    await until('speeds stand on the left, a length on the right', () => drawn.evaluate(({dataset}) => dataset.right), (text) => / m$/.test(text));
    await until('a flag is a band', () => drawn.getAttribute('data-bands'), (bands) => bands === 'grip.held');
    await page.getByRole('combobox', {name: 'Unit of speed'}).selectOption('mph');
    await until('the axis has the chosen unit', () => drawn.evaluate(({dataset}) => dataset.left), (text) => / mph$/.test(text));
    await page.getByLabel('How plot 2 is drawn').click();
    await page.getByRole('group', {name: /^Left axis/}).getByRole('switch').uncheck();
    await page.getByRole('spinbutton', {name: 'Left axis from'}).fill('-2');
    await page.getByRole('spinbutton', {name: 'Left axis to'}).fill('6');
    await until('the axis stays where it was put', () => drawn.evaluate(({dataset}) => dataset.left), (text) => text.startsWith('-2.000 6.000 '));
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('spinbutton', {name: 'Left axis to'}).count(), 0);
    assert.equal(await page.locator('.estop.active').count(), 0, 'Escape closed what was open, and stopped nothing');
    await page.getByRole('combobox', {name: 'Unit of speed'}).selectOption('m/s');
    await page.getByRole('button', {name: 'Remove plot 2'}).click();
  });

  await t.test('two cursors measure, and statistics are of what is seen', async () => {
    await page.getByRole('button', {name: 'Two cursors'}).click();
    await page.getByRole('button', {name: 'Follow'}).waitFor();
    const between = page.getByRole('status', {name: 'Between the cursors'});
    const times = async () => (await between.textContent()).match(/\d+\.\d+(?= s)/g).map(Number);
    const [a, b, apart] = await times();
    assert.ok(b > a && Math.abs(apart - (b - a)) < 0.002, await between.textContent());
    await page.getByRole('slider', {name: 'Cursor B'}).first().focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await until('B was moved', times, ([, moved]) => moved < b);
    await page.getByRole('button', {name: 'Statistics of what is seen'}).click();
    const row = page.locator('.legend-table tr', {has: page.locator('.legend-name[title="arm.velocity"]')}).first();
    const read = async (kind) => Number(await row.locator(`.measure-${kind}`).getAttribute('data-raw'));
    const [table] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
    const rows = readFileSync(await table.path(), 'utf8').trim().split('\r\n').map((line) => line.split(','));
    const values = rows.slice(1).map((cells) => cells[2]).filter(Boolean).map(Number);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    // Both have what was before the page was opened; the line that is seen may begin between two samples.
    const near = (value, other) => Math.abs(value - other) <= 0.1 * (high - low);
    await until('they are of the samples in the file', async () => [await read('least'), low, await read('greatest'), high], ([least, a, greatest, b]) => near(least, a) && near(greatest, b));
    const [least, greatest, mean, rms] = await Promise.all(['least', 'greatest', 'mean', 'rms'].map(read));
    assert.ok(least <= mean && mean <= greatest && rms <= Math.max(-least, greatest) && rms >= Math.abs(mean) - 1e-12, [least, mean, greatest, rms].join());
    assert.equal(await read('BA'), (await read('B')) - (await read('A')));
    await page.getByRole('button', {name: 'Statistics of what is seen'}).click();
    await page.getByRole('button', {name: 'Two cursors'}).click();
  });

  await t.test('one against another, how often, and which frequencies', async () => {
    await page.getByRole('button', {name: 'Add a plot'}).click();
    await plot(page, ['chassis.x', 'chassis.y']);
    const number = await page.getByRole('region', {name: /^Plot \d/}).count();
    const turnInto = async (kind) => {
      await page.getByLabel(`How plot ${number} is drawn`).click();
      await page.getByRole('radio', {name: kind}).check();
      await page.keyboard.press('Escape');
    };
    const drawn = (name, axis) => page.getByRole('img', {name}).getAttribute(`data-${axis}`);
    await turnInto('X-Y');
    await until('x lies below', () => drawn('X-Y of chassis.x, chassis.y', 'x'), (text) => text?.endsWith('chassis.x [m]'));
    assert.match(await drawn('X-Y of chassis.x, chassis.y', 'y'), /chassis\.y \[m\]$/);
    await turnInto('Histogram');
    await until('shares of the time', () => drawn('Histogram of chassis.x, chassis.y', 'y'), (text) => text?.endsWith('% of the time'));
    await turnInto('Spectrum');
    await until('up to half the rate of samples', () => drawn('Spectrum of chassis.x, chassis.y', 'x'), (text) => text?.endsWith(' Hz') && Number(text.split(' ')[1]) > 20);
    await page.getByRole('button', {name: `Remove plot ${number}`}).click();
  });

  await t.test('a formula is written with what it means said at once', async () => {
    await page.getByRole('button', {name: 'Plot a formula'}).click();
    const formula = page.getByRole('combobox', {name: 'Formula'});
    await formula.waitFor();
    await page.keyboard.type('2 * nonsense'); // at once
    assert.equal(await formula.inputValue(), '2 * nonsense');
    await page.getByRole('alert').filter({hasText: 'no signal or function “nonsense”'}).waitFor();
    await formula.fill('');
    await formula.pressSequentially('2 * arm.pos');
    await page.getByRole('option', {name: /^arm\.position/}).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await formula.inputValue(), '2 * arm.position');
    await page.getByLabel('Name (may be left out)').fill('twice');
    await page.getByRole('dialog').locator('.formula-value', {hasText: 'rad'}).waitFor();
    await page.getByRole('button', {name: 'Plot it'}).click();
    await page.locator('.legend-name', {hasText: 'twice'}).waitFor();
    const [table] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'What is shown as CSV'}).click()]);
    assert.match(readFileSync(await table.path(), 'utf8').split('\r\n')[0], /,twice \[rad\](,|$)/);
    await page.getByRole('button', {name: 'Follow'}).click();
    await until('it follows its signal', async () => [await shownValue(page, 'twice = 2 * arm.position'), 2 * (await shownValue(page, 'arm.position'))], ([twice, of]) => Math.abs(twice - of) < 1e-6);
    await page.getByRole('button', {name: 'Remove twice'}).click();

    // What goes on from what was before says where it begins; what doesn't says nothing.
    for (const [text, begins] of [['integral(arm.velocity)', true], ['unwrap(arm.position)', true], ['hypot(arm.velocity)', false]]) {
      await page.getByRole('button', {name: 'Plot a formula'}).click();
      await formula.fill(text);
      await page.getByRole('button', {name: 'Plot it'}).click();
      const row = page.locator('.legend li', {hasText: text});
      await row.waitFor();
      assert.equal(await row.getByText('from the left edge').count(), begins ? 1 : 0, text);
      assert.equal(/left edge of what is drawn/.test(await row.locator('.legend-name').getAttribute('title')), begins, text);
      await page.getByRole('button', {name: `Remove ${text}`}).click();
    }
  });

  await t.test('plots are saved by name, as a file, and in the address', async () => {
    await page.getByRole('combobox', {name: 'Unit of arm.velocity'}).selectOption('deg/s');
    const names = () => page.locator('.legend-name').allTextContents();
    const before = await names();
    await page.getByRole('button', {name: 'Layouts of plots'}).click();
    await page.getByLabel('Name of the layout').fill('Arm & drive');
    await page.getByRole('button', {name: 'Save', exact: true}).click();
    await page.getByRole('button', {name: 'Arm & drive', exact: true}).waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'Save as a file'}).click()]);
    await page.getByRole('button', {name: 'Close'}).click();
    await until('the address has them', () => page.url(), (url) => url.includes('plot=arm.position') && url.includes('units=rad'));
    const address = page.url();
    await page.evaluate(() => (location.hash = 'signals'));
    await until('also after the page was opened without', () => page.url(), (url) => url === address);

    await page.getByRole('button', {name: 'Remove arm.velocity'}).click();
    await until('it is gone', names, (now) => now.length === before.length - 1);
    await page.getByRole('button', {name: 'Layouts of plots'}).click();
    await page.getByRole('button', {name: 'Arm & drive', exact: true}).click();
    await until('they are as they were saved', names, (now) => now.join() === before.join());
    assert.equal(await page.getByRole('combobox', {name: 'Unit of arm.velocity'}).inputValue(), 'deg/s');

    // Somebody else opens the address, and the file.
    const other = await openPage(browser, tether.url, {hash: address.split('#')[1]});
    await until('the address shows the same', () => other.page.locator('.legend-name').allTextContents(), (now) => now.join() === before.join());
    await other.page.getByRole('button', {name: 'Remove arm.position'}).click();
    await other.page.getByRole('button', {name: 'Layouts of plots'}).click();
    await other.page.getByLabel('File of a layout').setInputFiles(await saved.path());
    await until('so does the file', () => other.page.locator('.legend-name').allTextContents(), (now) => now.join() === before.join());
    assert.deepEqual(other.troubles, []);
    await other.context.close();
    await page.getByRole('combobox', {name: 'Unit of arm.velocity'}).selectOption('rad/s');
  });

  await t.test('the tree is worked with keys alone', async () => {
    await page.getByRole('searchbox', {name: 'Search signals'}).fill('wrist.velocity');
    const leaf = page.locator('[data-signal="wrist.velocity"]');
    await leaf.focus();
    await page.keyboard.press('Enter');
    await until('it is plotted', () => page.locator('.legend-name', {hasText: 'wrist.velocity'}).count(), (count) => count === 1);
    await page.keyboard.press('Enter');
    await until('it is not', () => page.locator('.legend-name', {hasText: 'wrist.velocity'}).count(), (count) => count === 0);
  });
  assert.deepEqual(troubles, []);
});

/** A socket of the test's own, in the page: commands by their names, SI. */
const HAND = () => {
  const socket = new WebSocket(`ws://${location.host}/live`);
  const ids = new Map();
  let recording;
  window.hand = {
    command: (name, value) => socket.send(JSON.stringify({type: 'command', values: [[ids.get(name), value]]})),
    control: (action) => socket.send(JSON.stringify({type: 'control', action})),
  };
  socket.onmessage = ({data}) => {
    if (typeof data !== 'string') return;
    const message = JSON.parse(data);
    if (message.type === 'hello') ({recording} = message);
    if (message.type === 'model') message.commands.forEach(({name}, id) => ids.set(name, id));
    if (ids.size) window.hand.recording = recording; // only then commands have their numbers
    if (message.type === 'status') window.hand.rests = message.paused && message.time;
  };
};

test('what happened a minute before the fall is plotted', async (t) => {
  const tether = await startTether(t, 'frc2011', {'wires.float-udp.bind': '127.0.0.1:0', pace: 'fast', timestep: '1/500 s'});
  const browser = await openBrowser(t, {webgl: false});
  const {page, context, troubles} = await openPage(browser, tether.url, {hash: 'wires'});
  await page.evaluate(HAND);
  const recording = await until('the program says which run it keeps', () => page.evaluate(() => window.hand.recording));
  const ask = async (what) => (await fetch(`${tether.url}api/runs/${encodeURIComponent(recording)}/${what}`)).json();
  const inLog = (what, holds) => until(what, () => ask('values'), ({time, values}) => holds(values['arm.position'], time));
  // An arm is lifted, held for more than a minute, and falls; nobody has plotted anything.
  await page.evaluate(() => window.hand.command('arm.torque', -20));
  const up = await inLog('the arm is up', (position) => position < -1.4); // rad; the stops are at −1.5 and 1.25
  await inLog('it is held', (_, time) => time > up.time + 62);
  await page.evaluate(() => window.hand.command('arm.torque', 0));
  const down = await inLog('it fell', (position) => position > 1);
  await inLog('it rests', (_, time) => time > down.time + 3);
  await page.evaluate(() => window.hand.control('pause'));
  const rests = await until('the world rests', () => page.evaluate(() => window.hand.rests));
  const {time, values: [position]} = await until('the log has all of it', () => ask('signals?name=arm.position&points=20000'), (log) => log.time.at(-1) > rests - 0.1);
  const fall = time[position.findIndex((value, i) => time[i] > up.time && value > -1.45)];
  t.diagnostic(`it fell at ${fall} of ${time.at(-1)} s`);

  await page.getByRole('link', {name: 'Signals'}).click();
  await plot(page, ['arm.position']);
  await page.getByRole('combobox', {name: 'Time shown'}).selectOption('300');
  const canvas = page.locator('.plot-canvas .u-over');
  const held = () => shownValue(page, 'arm.position');
  // Its whole past is there although nobody had plotted it: the pointer reads it off.
  const end = time.at(-1);
  const readAt = async (moment) => {
    const box = await canvas.boundingBox(); // moves until the axes have their room
    await page.mouse.move(box.x + (box.width * (300 - (end - moment))) / 300, box.y + 50);
    return held();
  };
  await until('the arm is up before the fall', () => readAt(fall - 2), (value) => value < -1.4);
  await until('and down after it', () => readAt(fall + 3), (value) => value > 0);
  await page.mouse.move(5, 5);

  // The hand of the time line goes a minute back; what is shown is what the log has of this moment.
  const line = page.getByRole('slider', {name: 'Time of the run'});
  const minute = Math.round(1000 * (fall - 60)) / 1000;
  await line.fill(String(minute));
  const {values} = await ask(`values?at=${minute}`);
  await until('the value is that of the moment', held, (value) => value === values['arm.position']);
  await plot(page, ['command:arm.torque']);
  await until('so is that of what is added there', () => shownValue(page, 'command:arm.torque'), (value) => value === values['command:arm.torque']);
  assert.match(await page.locator('.timebar-ago').textContent(), /ago$/);

  // What the robot had been told before, and the way back.
  await page.getByRole('link', {name: 'Wires'}).click();
  const told = page.getByRole('group', {name: 'Accepted messages'}).locator('tbody tr').first();
  await until('the lifting was the last that it was told', () => told.textContent(), (text) => text.includes('arm.torque'));
  await page.keyboard.press('End');
  await until('LIVE', () => page.getByRole('button', {name: 'LIVE'}).getAttribute('aria-pressed'), (pressed) => pressed === 'true');
  assert.deepEqual(troubles, []);
  await context.close();
});
