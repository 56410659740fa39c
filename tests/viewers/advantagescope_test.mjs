// `tether export --format advantagescope`: every ready robot and arena as asset folders, read by the validator of glTF's makers.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';

const source = process.env.TETHER_SOURCE_DIR;
const program = process.env.TETHER;
const validator = createRequire(join(source, 'web', 'package.json'))('gltf-validator');
const folder = mkdtempSync(join(tmpdir(), 'assets-'));
test.after(() => rmSync(folder, {recursive: true}));

const scenes = readdirSync(join(source, 'scenes')).filter((name) => name.endsWith('.yaml')).map((name) => name.replace('.yaml', '')).filter((name) => !name.endsWith('-six'));
const said = new Map();
for (const scene of scenes) {
  said.set(scene, execFileSync(program, ['export', scene, '--format', 'advantagescope', '--output', join(folder, scene)], {encoding: 'utf8'}));
}
const assets = scenes.flatMap((scene) => readdirSync(join(folder, scene)).map((name) => ({scene, name, path: join(folder, scene, name)})));
const config = (asset) => JSON.parse(readFileSync(join(asset.path, 'config.json'), 'utf8'));
const find = (scene, name) => assets.find((asset) => asset.scene === scene && asset.name === name);
const isVector = (list, size) => Array.isArray(list) && list.length === size && list.every(Number.isFinite);
const areTurns = (list) => Array.isArray(list) && list.every((turn) => 'xyz'.includes(turn.axis) && Number.isFinite(turn.degrees));

/** The JSON of a .glb. */
function document(path) {
  const bytes = readFileSync(path);
  return JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)).toString('utf8'));
}

test('every robot and arena that there is was exported', () => {
  const robots = new Set(assets.filter((asset) => asset.name.startsWith('Robot_')).map((asset) => asset.name));
  const fields = new Set(assets.filter((asset) => asset.name.startsWith('Field3d_')).map((asset) => asset.name));
  assert.deepEqual([...fields].sort(), readdirSync(join(source, 'arenas')).map((name) => `Field3d_${name}`).sort());
  assert.ok(robots.size >= 9, [...robots].join());
  for (const scene of scenes) assert.match(said.get(scene), /Robot_.*: \d+ models and config\.json/, scene);
});

test('every model is valid glTF 2.0, without a warning', async () => {
  let models = 0;
  for (const asset of assets) {
    for (const file of readdirSync(asset.path).filter((name) => name.endsWith('.glb'))) {
      const report = await validator.validateBytes(new Uint8Array(readFileSync(join(asset.path, file))), {uri: file});
      assert.deepEqual([report.issues.numErrors, report.issues.numWarnings], [0, 0],
        `${asset.scene}/${asset.name}/${file}: ${JSON.stringify(report.issues.messages.slice(0, 3))}`);
      models++;
    }
  }
  assert.ok(models > 40);
});

test('robots have a config and a model for each component', () => {
  for (const asset of assets.filter(({name}) => name.startsWith('Robot_'))) {
    const said = config(asset);
    const models = readdirSync(asset.path).filter((name) => name.endsWith('.glb')).sort();
    assert.ok(said.name.length > 0);
    assert.ok(areTurns(said.rotations) && isVector(said.position, 3) && Array.isArray(said.cameras));
    assert.equal(models.length, said.components.length + 1);
    said.components.forEach((component, index) => {
      assert.ok(areTurns(component.zeroedRotations) && isVector(component.zeroedPosition, 3));
      assert.ok(models.includes(`model_${index}.glb`));
    });
  }
  // The wheels of frc2011 are drawn where they are: 0.28 m to the sides, and each pose turns them there.
  const frc = find('frc2011', 'Robot_frc2011');
  const left = config(frc).components[0];
  assert.equal(document(join(frc.path, 'model_0.glb')).nodes[0].name, 'left_wheels');
  assert.ok(left.zeroedPosition[1] < -0.2);
});

test('a field is as large as it is, blue on the right, and its pieces can be hidden', () => {
  const field = find('frc2011', 'Field3d_frc2011');
  const said = config(field);
  assert.equal(said.coordinateSystem, 'wall-blue');
  assert.ok(Math.abs(said.widthInches - 648) < 0.2 && Math.abs(said.heightInches - 324) < 0.2); // 54 x 27 ft
  assert.equal(said.driverStations.length, 6);
  assert.ok(said.driverStations.every((station) => isVector(station, 2)));
  assert.ok(said.driverStations[0][0] > 8.23 && said.driverStations[5][0] < -8.23);
  const model = document(join(field.path, 'model.glb'));
  const names = model.nodes.map((node) => node.name);
  assert.deepEqual(said.gamePieces.map((piece) => piece.name), ['circle', 'triangle', 'square', 'special']);
  for (const piece of said.gamePieces) {
    assert.equal(piece.stagedObjects.length, 3);
    assert.ok(piece.stagedObjects.every((name) => names.includes(name)));
  }
  assert.equal(readdirSync(field.path).filter((name) => /^model_\d+\.glb$/.test(name)).length, 4);
  // The blue wall, at x = -8.23 m of the arena, is at +8.23 m of the viewer's world.
  const wall = model.meshes[model.nodes.find((node) => node.name === 'wall_blue').mesh];
  const bounds = model.accessors[wall.primitives[0].attributes.POSITION];
  assert.ok(bounds.min[0] > 8, JSON.stringify(bounds.min));
  assert.equal(config(find('gripper', 'Field3d_gripper')).coordinateSystem, 'center-red');
});

test('what cannot be written is said', () => {
  const done = spawnSync(program, ['export', 'xrp', '--format', 'advantagescope', '--output', '/dev/null/there'], {encoding: 'utf8'});
  assert.equal(done.status, 3);
  assert.match(done.stderr, /\/dev\/null\/there: can't make this folder: Not a directory/);
});
