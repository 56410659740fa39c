// What strangers try: other sites' pages, names that resolve to us, paths that lead out, markup in names.
import {symlinkSync, writeFileSync, mkdirSync} from 'node:fs';
import http from 'node:http';
import {join} from 'node:path';
import {test} from 'node:test';
import {assert, openBrowser, openPage, root, startTether, stateFolder, until} from './harness.mjs';

const MARKUP = '<img src=x onerror=alert(1)>';

/** The status of one request, its path sent as it stands. */
function ask(url, path, {method = 'GET', headers = {}, body} = {}) {
  const {hostname, port} = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.request({hostname, port, path, method, headers, agent: false}, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += piece));
      answer.on('end', () => resolve({status: answer.statusCode, headers: answer.headers, text}));
    });
    request.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({status: answer.statusCode, headers: answer.headers, text: ''});
    });
    request.on('error', (error) => reject(new Error(`${path} ${JSON.stringify(headers)}: ${error.message}`)));
    request.end(body);
  });
}

const UPGRADE = {Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version': '13'};

/** A scene whose file, description, bodies and joints are called markup. */
function sceneWithMarkup(folder) {
  const name = MARKUP.replace(/</g, '&lt;');
  writeFileSync(
    join(folder, 'robot.xml'),
    `<mujoco model="m"><worldbody><body name="${name}" pos="0 0 1"><freejoint/><geom name="${name}" size="0.2"/>` +
      `<body name="arm"><joint name="${name}j"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody></mujoco>`,
  );
  const path = join(folder, 'a<c>b<c>.yaml');
  writeFileSync(path, `description: "${MARKUP}"\ntimestep: 1/500 s\nio_period: 10 ms\nrobots:\n  - {robot: ./robot.xml, name: one}\n`);
  return path;
}

test('strangers', async (t) => {
  const state = stateFolder(t);
  const runs = join(state, 'tether/runs');
  mkdirSync(runs, {recursive: true});
  symlinkSync('/etc/passwd', join(runs, 'passwd.wpilog'));
  const tether = await startTether(t, sceneWithMarkup(state), {}, {state});
  const {host} = new URL(tether.url);

  await t.test('another Host or Origin is refused, by HTTP and by WebSocket', async () => {
    const own = {Host: host, Origin: `http://${host}`};
    for (const [path, more] of [['/', {}], ['/api/runs', {}], ['/live', UPGRADE]]) {
      assert.equal((await ask(tether.url, path, {headers: {...more, ...own}})).status, path === '/live' ? 101 : 200, path);
      for (const strange of [{Origin: 'http://evil.example'}, {Origin: 'null'}, {Origin: `https://${host}.evil.example`}, {Host: 'evil.example', Origin: 'http://evil.example'}, {Host: 'evil.example'}]) {
        assert.equal((await ask(tether.url, path, {headers: {...more, Host: host, ...strange}})).status, 403, `${path} ${JSON.stringify(strange)}`);
      }
    }
    const posted = await ask(tether.url, '/api/scenes', {method: 'POST', headers: {Host: host, Origin: 'http://evil.example'}, body: '{"name": "gripper"}'});
    assert.equal(posted.status, 403);
  });

  await t.test('no path leads out', async () => {
    const out = ['/../etc/passwd', '/%2e%2e/etc/passwd', '/..%2fetc%2fpasswd', '/%2e%2e%2f%2e%2e%2fetc%2fpasswd', '//etc/passwd', '/etc/passwd', '/index.html%00.js', '/%00', '/..\\etc\\passwd', '/.%2e/etc/passwd',
      '/api/runs/../../etc/passwd', '/api/runs/%2e%2e%2f%2e%2e%2fpasswd.wpilog', '/api/runs/passwd.wpilog', '/api/runs/%2fetc%2fpasswd', '/api/meshes/../../etc/passwd', '/api/meshes/-1', '/api/meshes/99999999999999999999', '/api/textures/1e9', '/api/textures/%30%00'];
    for (const path of out) {
      const {status, text} = await ask(tether.url, path, {headers: {Host: host}});
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
      assert.ok(!text.includes('root:'), path);
    }
  });

  await t.test('every answer forbids what the pages do not need', async () => {
    const {headers} = await ask(tether.url, '/', {headers: {Host: host}});
    assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(headers['content-security-policy'], /frame-ancestors 'none'/);
  });

  await t.test('markup in names is text', async (t) => {
    const browser = await openBrowser(t);
    const {page, troubles} = await openPage(browser, tether.url);
    await page.locator('.canvas[data-ready]').waitFor();
    page.on('dialog', (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
    assert.equal(await page.locator('.scene h1').textContent(), 'a<c>b<c>');
    await page.evaluate(() => (location.hash = 'signals'));
    await page.getByRole('searchbox', {name: 'Search signals'}).fill('onerror');
    await until('names are in the tree as they are', () => page.locator('.row-label', {hasText: MARKUP}).count());
    for (const hash of ['signals', 'wires', 'drive', 'runs', 'sweeps', 'trials', 'world']) {
      await page.evaluate((to) => (location.hash = to), hash);
      await page.locator('.loading').waitFor({state: 'detached'});
      // These could only come out of a name.
      assert.equal(await page.locator('[onerror], c').count(), 0, `${hash}: ${await page.locator('[onerror], c').evaluateAll((all) => all.map((one) => one.outerHTML).join())}`);
    }
    assert.deepEqual(troubles, []);
  });
});
