// What the builder writes into files, and what the editor offers where.
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {load} from './load.mjs';

const {text, place, files, wiring, completion, quantity, copies} = await load({
  quantity: 'quantity.ts',
  copies: 'pages/builder/free_name.ts',
  text: 'pages/builder/yaml_edit.ts',
  place: 'pages/builder/yaml_place.ts',
  files: 'pages/builder/dropped.ts',
  wiring: 'pages/builder/wiring.ts',
  completion: 'pages/builder/completion.ts',
});
const {edit, keysAt, lineOf, parse, read, set, setList} = text;
const {placeAt} = place;
const {arrange, references} = files;
const {entriesIn, entryOf, moved, unitsFor, wiresIn, withEntries, withWire} = wiring;
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const SCENE = `# a robot
robots:
  - {robot: frc2011, x: 1.8 m} # the red one
wires:
  - float-udp:
      bind: 127.0.0.1:5801
      sensors: # 2 floats
        - {name: time}
        - {name: arm.position, unit: deg} # down is positive
      commands: [stamp]
`;

test('every scene, robot and arena that comes along stays as it is written', () => {
  const files = ['scenes', 'robots', 'arenas'].flatMap((folder) =>
    readdirSync(join(root, folder), {withFileTypes: true}).flatMap(({name}) => (name.endsWith('.yaml') ? [join(folder, name)] : folder === 'scenes' ? [] : [join(folder, name, `${folder.slice(0, -1)}.yaml`)])),
  );
  assert.ok(files.length > 25);
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const before = read(text);
    for (const key of keysAt(text, [])) {
      const path = Array.isArray(before[key]) ? [key, 0, 'added'] : [key];
      if (Array.isArray(before[key]) && typeof before[key][0] !== 'object') continue;
      if (!Array.isArray(before[key]) && typeof before[key] === 'object') path.push('added');
      const after = set(text, path, 'other');
      // The line itself; of entries that were broken into several lines their neighbours, too.
      const [was, is] = [text.split('\n'), after.split('\n')];
      assert.ok(is.filter((line) => !was.includes(line)).length <= 2 && Math.abs(is.length - was.length) <= 2, `${file} ${path}`);
      assert.notEqual(after, text);
      const expected = structuredClone(before);
      if (path.length === 3) expected[key][0].added = 'other';
      else if (path.length === 2) expected[key].added = 'other';
      else expected[key] = 'other';
      assert.deepEqual(read(after), expected, `${file} ${path}`);
    }
  }
});

test('one value changes, the rest stays', () => {
  assert.equal(set(SCENE, ['robots', 0, 'x'], '2 m'), SCENE.replace('1.8 m', '2 m'));
  assert.equal(set(SCENE, ['robots', 0, 'heading'], '90 deg'), SCENE.replace('1.8 m}', '1.8 m, heading: 90 deg}'));
  assert.equal(set(SCENE, ['robots', 0, 'x'], ''), SCENE.replace(', x: 1.8 m', ''));
  assert.equal(set(SCENE, ['arena'], 'frc2011'), `${SCENE}arena: frc2011\n`);
  assert.equal(set(SCENE, ['robots', 0, 'floating'], true), SCENE.replace('1.8 m}', '1.8 m, floating: true}'));
  assert.equal(set('wires:\n  - xrp:\n', ['wires', 0, 'xrp', 'bind'], 'a:1'), 'wires:\n  - xrp:\n      bind: a:1\n');
  assert.equal(set('', ['robots'], [{robot: 'my.yaml', x: '1 m'}]), 'robots:\n  - {robot: my.yaml, x: 1 m}\n');
});

test('a text that is no YAML is left alone, and says where it is wrong', () => {
  const wrong = 'robots:\n  - {robot: a\nwires: 3\n';
  assert.equal(set(wrong, ['arena'], 'x'), wrong);
  const {document, problems} = parse(wrong);
  assert.equal(document, null);
  assert.ok(problems[0].line >= 2 && problems[0].text);
  assert.equal(read(wrong), null);
});

test('entries of a list move with their comments', () => {
  const path = ['wires', 0, 'float-udp', 'sensors'];
  const moved = setList(SCENE, path, [{name: 'arm.position', unit: 'deg'}, {name: 'time'}, {name: 'wrist.position', scale: -1}]);
  assert.equal(
    moved,
    SCENE.replace(
      /        - \{name: time\}[^]*?positive\n/,
      '        - {name: arm.position, unit: deg} # down is positive\n        - {name: time}\n        - {name: wrist.position, scale: -1}\n',
    ),
  );
  const commands = setList(SCENE, ['wires', 0, 'float-udp', 'commands'], ['stamp', {name: 'arm.torque', unit: 'in·lbf'}]);
  assert.match(commands, /commands:\n        - stamp\n        - \{name: arm.torque, unit: in·lbf\}\n$/);
  assert.deepEqual(read(commands).wires[0]['float-udp'].commands, ['stamp', {name: 'arm.torque', unit: 'in·lbf'}]);
  assert.equal(lineOf(SCENE, [...path, 1]), 9);
  assert.deepEqual(keysAt(SCENE, ['wires', 0]), ['float-udp']);
});

test('where a cursor stands', () => {
  const at = (text) => {
    const cursor = text.indexOf('|');
    const {path, kind, word, siblings} = placeAt(text.replace('|', ''), cursor);
    return [path.join('.'), kind, word, siblings.join(' ')];
  };
  assert.deepEqual(at('ar|'), ['', 'key', 'ar', '']);
  assert.deepEqual(at('arena: frc2011\nti|\npace: fast\n'), ['', 'key', 'ti', 'arena pace']);
  assert.deepEqual(at('pace: re|'), ['pace', 'value', 're', '']);
  assert.deepEqual(at('pace: |\nrobots: []'), ['pace', 'value', '', '']);
  assert.deepEqual(at('robots:\n  - robot: a\n    al|'), ['robots.*', 'key', 'al', 'robot']);
  assert.deepEqual(at('robots:\n  - {robot: a, al|'), ['robots.*', 'key', 'al', 'robot']);
  assert.deepEqual(at('robots:\n  - {robot: a, alliance: |}'), ['robots.*.alliance', 'value', '', 'robot alliance']);
  assert.deepEqual(at('wires:\n  - |'), ['wires.*', 'key', '', '']);
  assert.deepEqual(at('wires:\n  - float-udp:\n      bind: a:1\n      |\n  - xrp:\n      rates: []\n'), ['wires.*.float-udp', 'key', '', 'bind']);
  assert.deepEqual(at('wires:\n  - float-udp:\n      sensors: # three\n        - {name: time}\n        - {name: arm|'), ['wires.*.float-udp.sensors.*.name', 'value', 'arm', 'name']);
  assert.deepEqual(at('wires:\n  - float-udp:\n      sensors: [time, {name: a, unit: |}]'), ['wires.*.float-udp.sensors.*.unit', 'value', '', 'name unit']);
  assert.deepEqual(at('wires:\n  - float-udp:\n      commands: [stamp, ar|]'), ['wires.*.float-udp.commands.*', 'value', 'ar', '']);
  assert.deepEqual(at('wires:\n- float-udp:\n    commands:\n    - arm|'), ['wires.*.float-udp.commands.*', 'key', 'arm', '']);
  assert.deepEqual(at('robots:\n  - robot: a\n|'), ['', 'key', '', 'robots']);
  assert.deepEqual(at('web: {listen: 127.0.0.1:0}\nrecord:\n  o|'), ['record', 'key', 'o', '']);
  assert.deepEqual(at('# a comm|ent: x'), ['', 'value', '', '']);
  assert.deepEqual(at('motors:\n  - {name: a,\n     mo|del: cim}\n'), ['motors.*', 'key', 'mo', 'name']);
});

test('dropped files lie where their model looks for them', () => {
  const file = (path, text) => ({path, text, bytes: new Blob([text ?? path])});
  const urdf = '<robot name="r"><!-- <mesh filename="no.stl"/> --><link><visual><geometry><mesh filename="package://my_robot/meshes/Base.STL" scale="1 1 1"/></geometry></visual></link><link><mesh filename=\'meshes/arm.obj\'/></link></robot>';
  assert.deepEqual(references(urdf), ['my_robot/meshes/Base.STL', 'meshes/arm.obj']);
  const loose = arrange([file('r.urdf', urdf), file('base.stl'), file('notes.txt')]);
  assert.deepEqual([loose.model, loose.files.map(({path}) => path), loose.missing, loose.unused], ['r.urdf', ['r.urdf', 'my_robot/meshes/Base.STL'], ['meshes/arm.obj'], ['notes.txt']]);
  const later = arrange([file('arm.obj')], {path: 'r.urdf', text: urdf, has: ['my_robot/meshes/Base.STL']});
  assert.deepEqual([later.model, later.files.map(({path}) => path), later.missing], ['r.urdf', ['meshes/arm.obj'], []]);

  const above = arrange([file('pkg/urdf/r.urdf', '<robot name="r"><mesh filename="../meshes/a.stl"/></robot>'), file('pkg/meshes/a.stl'), file('pkg/old/a.stl')]);
  assert.deepEqual([above.model, above.files.map(({path}) => path)], ['model/r.urdf', ['model/r.urdf', 'meshes/a.stl']]);

  const mjcf = '<mujoco><compiler meshdir="assets"/><include file="arm.xml"/><asset><mesh name="b" file="b.stl"/></asset><worldbody/></mujoco>';
  const two = arrange([file('scene/arm.xml', '<mujoco><asset><mesh file="assets/c.stl"/></asset></mujoco>'), file('scene/robot.xml', mjcf), file('scene/assets/b.stl'), file('scene/assets/c.stl')]);
  assert.deepEqual([two.model, two.files.map(({path}) => path).sort(), two.missing], ['robot.xml', ['arm.xml', 'assets/b.stl', 'assets/c.stl', 'robot.xml'], []]);

  assert.match(arrange([file('r.urdf.xacro', '<robot/>')]).refused, /Expand it first/);
  assert.match(arrange([file('a.stl')]).refused, /no model/);
  assert.equal(arrange([file('../../etc/passwd'), file('r.urdf', '<robot><mesh filename="../../../etc/passwd"/></robot>')]).files.some(({path}) => path.includes('..')), false);
});

test('the order of a wire is that of its list in the file', () => {
  const [wire] = wiresIn(SCENE);
  assert.deepEqual([wire.protocol, wire.index], ['float-udp', 0]);
  const sensors = entriesIn(wire, 'sensors');
  assert.deepEqual(sensors.map(({name, unit, scale}) => [name, unit, scale]), [['time', '', 1], ['arm.position', 'deg', 1]]);
  const text = withEntries(SCENE, wire, 'sensors', moved([...sensors, {...entryOf('wrist.position'), scale: -1}], 2, 0));
  assert.deepEqual(text.split('\n').slice(6, 10).map((line) => line.trim()), ['sensors: # 2 floats', '- {name: wrist.position, scale: -1}', '- {name: time}', '- {name: arm.position, unit: deg} # down is positive']);
  const commands = withEntries(text, wiresIn(text)[0], 'commands', [...entriesIn(wire, 'commands'), entryOf('arm.torque')]);
  assert.deepEqual(read(commands).wires[0]['float-udp'].commands, ['stamp', {name: 'arm.torque'}]);
  assert.deepEqual([moved([0, 1, 2, 3], 0, 2), moved([0, 1, 2, 3], 3, 1), moved([0, 1], 0, 0), moved([0, 1], 0, 1)], [[1, 0, 2, 3], [0, 3, 1, 2], [0, 1], [0, 1]]);
});

const UNITS = [
  ['rad', 'rad', 1], ['mrad', 'rad', 0.001], ['deg', 'rad', Math.PI / 180], ['rev', 'rad', 2 * Math.PI],
  ['m', 'm', 1], ['ft', 'm', 0.3048], ['N·m', 'N·m', 1], ['in·lbf', 'N·m', 0.1129848290276167], ['rad/s²', 'rad/s²', 1], ['µs', 's', 1e-6],
].map(([name, si, scale]) => ({name, si, scale}));

test('a quarter turn is added to an angle in whatever unit it is written', () => {
  const turned = (text) => quantity.quarterOn(text, UNITS);
  assert.deepEqual(
    ['0.25 rev', '1/4 rev', '+90 deg', '1.5e1 deg', '45.5 deg', '-90 deg', '300 deg', '100 mrad', '0', ''].map(turned),
    ['180 deg', '180 deg', '180 deg', '105 deg', '135.5 deg', '0 deg', '30 deg', '95.729577951 deg', '90 deg', '90 deg'],
  );
  assert.deepEqual(['90 degrees', '1 m', 'north', '1,5 deg', '1/0 rev', '90 deg east', '0x10 deg'].map(turned), Array(7).fill(null));
});

test('quantities are read as the program reads them', () => {
  const read = (text, si) => quantity.parseQuantity(text, si, UNITS);
  assert.deepEqual([read('6 ft', 'm'), read('.5', 'm'), read('1.', 'm'), read('6ft', 'm'), read('-3 us', 's'), read('2 \u03bcs', 's')], [6 * 0.3048, 0.5, 1, 6 * 0.3048, -3e-6, 2e-6]);
  for (const name of ['in·lbf', 'in-lbf', 'in*lbf', 'in⋅lbf']) assert.equal(read(`1 ${name}`, 'N·m'), 0.1129848290276167, name);
  assert.equal(read('2 rad/s^2', 'rad/s²'), 2);
  assert.deepEqual([read('1 deg', 'm'), read('m', 'm'), read('1e999 m', 'm'), read('NaN m', 'm'), read('', 'm')], [null, null, null, null, null]);
});

test('a copy gets the first name that is free', () => {
  assert.equal(copies.freeName('frc2011', ['frc2011', 'frc2011-2', 'frc2011-4']), 'frc2011-3');
  assert.equal(copies.freeName('a'.repeat(63), []), `${'a'.repeat(61)}-2`);
});

test('a wire more', () => {
  const one = withWire('robots:\n  - {robot: my.yaml}\n', 'float-udp', '');
  assert.equal(one, 'robots:\n  - {robot: my.yaml}\nwires:\n  - float-udp:\n      sensors:\n        - {name: time}\n      commands:\n        - {name: stamp}\n');
  assert.deepEqual(wiresIn(withWire(one, 'xrp', 'red1')).map(({protocol, robot}) => [protocol, robot]), [['float-udp', ''], ['xrp', 'red1']]);
  assert.deepEqual(wiresIn('wires: [lockstep-tcp, {xrp: }]\n').map(({protocol}) => protocol), ['lockstep-tcp', 'xrp']);
  const schema = {keys: [], units: [{name: 'rad', si: 'rad'}, {name: 'deg', si: 'rad'}, {name: 'm', si: 'm'}]};
  assert.deepEqual(unitsFor(schema, 'rad'), ['deg']);
});

test('the editor offers what may stand there, and what the draft knows by name', () => {
  const key = (path, more = {}) => ({file: 'scene', path, kind: 'text', entries: null, required: false, unit: '', default: '', choices: [], type: '', help: '', ...more});
  const schema = {
    keys: [
      key('pace', {kind: 'word', choices: ['realtime', 'lockstep', 'fast']}), key('physics', {kind: 'flag'}),
      key('robots', {kind: 'list'}), key('robots.robot', {required: true}), key('robots.alliance', {choices: ['red', 'blue']}),
      key('wires', {kind: 'list'}), key('wires.float-udp', {kind: 'mapping'}), key('wires.float-udp.bind', {default: '127.0.0.1:5801'}),
      key('wires.float-udp.sensors', {kind: 'list'}), key('wires.float-udp.sensors.name'), key('wires.float-udp.sensors.unit'),
      {...key('motors', {kind: 'list'}), file: 'robot'},
    ],
    units: [{name: 'rad', si: 'rad'}, {name: 'deg', si: 'rad'}],
  };
  const names = {signals: ['time', 'arm.position'], commands: ['arm.torque'], joints: ['arm'], robots: ['red1']};
  const offers = (marked, kind = 'scene') => {
    const cursor = marked.indexOf('|');
    return completion.proposals(schema, kind, marked.replace('|', ''), cursor, names)?.list.map(({insert}) => insert.trim()) ?? [];
  };
  assert.deepEqual(offers('pace: fast\n|'), ['physics:', 'robots:', 'wires:']);
  assert.deepEqual(offers('pa|', 'robot'), ['motors:']);
  assert.deepEqual(offers('pace: |'), ['realtime', 'lockstep', 'fast']);
  assert.deepEqual(offers('physics: |'), ['on', 'off']);
  assert.deepEqual(offers('robots:\n  - {robot: a, |}'), ['alliance:']);
  assert.deepEqual(offers('wires:\n  - |'), ['float-udp:']);
  assert.deepEqual(offers('wires:\n  - float-udp:\n      |'), ['bind:', 'sensors:']);
  assert.deepEqual(offers('wires:\n  - float-udp:\n      sensors:\n        - {name: |'), ['time', 'arm.position', 'none']);
  assert.deepEqual(offers('wires:\n  - float-udp:\n      sensors: [|'), ['time', 'arm.position', 'none']);
  assert.deepEqual(offers('wires:\n  - float-udp:\n      commands: [|'), ['arm.torque', 'stamp', 'none']);
  assert.deepEqual(offers('wires:\n  - float-udp:\n      sensors:\n        - {name: a, unit: |'), ['rad', 'deg']);
  assert.deepEqual(offers('# |'), []);
});
