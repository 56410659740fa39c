// What bodies are drawn as: few points, few triangles where a processor draws them, and surfaces that they share.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './load.mjs';

const {looks: {Looks}, shapes: {buildBodies, decodeMesh, meshLoader}} = await load({looks: 'view3d/looks.ts', shapes: 'view3d/shapes.ts'});

const at = {position: [0, 0, 0], rotation: [1, 0, 0, 0], rgba: [1, 0, 0, 1], material: -1, mesh: -1};
const bodies = ['one', 'other'].map((name) => ({name, parent: 0, robot: -1, piece: false}));
const tubes = [0, 1].map((body) => ({...at, kind: 'capsule', body, size: [0.1, 0.4, 0]}));

function meshesOf(coarse, loader = async () => assert.fail('there is no mesh')) {
  const shapes = loader.length ? [{...at, kind: 'mesh', body: 0, size: [1, 1, 1], mesh: 0}, ...tubes.slice(0, 1)] : tubes;
  let changed = () => {};
  const done = new Promise((resolve) => (changed = resolve));
  const groups = buildBodies(bodies, shapes, loader, new Looks({materials: [], textures: []}, () => {}), {opacity: 1, shadows: true, coarse}, changed);
  return {groups, done, meshes: groups.flatMap(({children}) => children)};
}
const triangles = ({geometry}) => geometry.index.count / 3;

test('bodies that look alike share their surface', () => {
  const {meshes: [one, other]} = meshesOf(false);
  assert.equal(one.material, other.material);
});

test('a point of a round shape is computed once, not for each triangle around it', () => {
  const {meshes: [tube]} = meshesOf(false);
  assert.ok(tube.geometry.getAttribute('position').count < triangles(tube));
});

test('where a processor draws, round shapes have less than half of the triangles', () => {
  assert.ok(triangles(meshesOf(true).meshes[0]) < triangles(meshesOf(false).meshes[0]) / 2);
});

test('a mesh keeps its edges, beside other shapes of its body', async () => {
  const bytes = new ArrayBuffer(8 + 12 * (4 + 2));
  new Uint32Array(bytes, 0, 2).set([4, 2]);
  new Float32Array(bytes, 8, 12).set([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
  new Uint32Array(bytes, 8 + 48, 6).set([0, 1, 2, 0, 3, 1]);
  const {groups, done} = meshesOf(false, async (mesh) => (assert.equal(mesh, 0), decodeMesh(bytes)));
  await done;
  const corners = groups[0].children[1].geometry;
  assert.equal(corners.getAttribute('position').count, 6);
  const normals = corners.getAttribute('normal');
  assert.deepEqual([0, 3].map((i) => [normals.getX(i), normals.getY(i), normals.getZ(i)].map(Math.round)), [[0, 0, 1], [0, 1, 0]]);
});

test('a mesh is asked for once a model, again where that failed, and forgotten with its model', async () => {
  const bytes = new ArrayBuffer(8 + 12 * (3 + 1));
  new Uint32Array(bytes, 0, 2).set([3, 1]);
  const asked = [];
  let status = 503;
  globalThis.fetch = async (url) => (asked.push(url), new Response(bytes, {status}));
  await assert.rejects(meshLoader('world 1')(0));
  status = 200;
  const first = await meshLoader('world 1')(0);
  assert.equal(await meshLoader('world 1')(0), first);
  assert.equal(asked.length, 2);
  const ofRun = meshLoader('run r', 'api/runs/r');
  await Promise.all([ofRun(0), ofRun(0)]);
  assert.deepEqual(asked.slice(2), ['api/runs/r/meshes/0']);
  assert.notEqual(await meshLoader('world 1')(0), first);
});
