// banner.tsx: what is wrong with the connection, and what the page does about it.
import {signal} from '@preact/signals';
import {useEffect, useState} from 'preact/hooks';
import {retryNow, showToken} from '../live/connection';
import {awaited, connection, hello, lostAt, notices, notify, dismiss, refusal, retryAt, status} from '../live/store';
import {toggleStop} from '../live/control';
import {goLive, goneRun, isLive, isOfWorld, isServed} from '../live/moment';
import {addressOf, page} from '../route';
import type {Page} from '../route';
import {Button} from './controls';
import {Icon} from './icon';

const now = signal(Date.now());
/** A program that goes on with another scene is away for less, ms. */
const MOMENT_MS = 1500;
/** One whose scene was chosen here, and takes long to load. */
const LOADING_MS = 30000;

/** Pages on which people act on the world. */
const ACTS: Page[] = ['drive', 'trials'];

function Past() {
  return (
    <div class="banner info" role="status">
      <Icon name="warning" />
      <span>{isOfWorld.value ? 'The picture shows what was.' : 'The picture shows a recording.'} What you do here happens in the world as it is now.</span>
      <Button kind="plain" label="Show it" text="Show it" onClick={goLive} />
    </div>
  );
}

function Gone() {
  return (
    <div class="banner warn" role="status">
      <Icon name="warning" />
      <span>There is no kept run {goneRun.value} here: it was deleted, or its name is another.</span>
      <a class="button plain" href={addressOf('runs')}>Runs</a>
      {!isServed.value && <Button kind="plain" label="Show what is LIVE" text="Show what is LIVE" onClick={goLive} />}
    </div>
  );
}

/** The program is there, and another token may open it again; what was typed on the page is still there then. */
function Refused() {
  const [token, setToken] = useState('');
  const show = (event: Event) => {
    event.preventDefault();
    showToken(token.trim()).catch((error: Error) => notify(`Not let in: ${error.message}`, 'error'));
  };
  return (
    <form class="banner error" onSubmit={show}>
      <Icon name="warning" />
      <span role="alert">{refusal.value}</span>
      <input type="password" aria-label="Token" placeholder="Token" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
      <button type="submit" class="button plain" disabled={!token.trim()}>Use this token</button>
    </form>
  );
}

export function Banner() {
  const state = connection.value;
  useEffect(() => {
    if (state === 'live') return;
    const timer = setInterval(() => (now.value = Date.now()), 250);
    return () => clearInterval(timer);
  }, [state]);
  if (state === 'foreign') {
    return (
      <div class="banner error" role="alert">
        <Icon name="warning" />
        <span>
          The program is another version ({hello.value?.version}, protocol {hello.value?.protocol}). Reload to get its own pages.
        </span>
        <Button kind="primary" label="Reload" text="Reload" onClick={() => location.reload()} />
      </div>
    );
  }
  if (state === 'live') {
    if (!status.value?.stopped && goneRun.value) return <Gone />;
    if (!status.value?.stopped && !isLive.value && !isServed.value && ACTS.includes(page.value)) return <Past />;
    return status.value?.stopped ? (
      <div class="banner stop" role="alert">
        <Icon name="stop" />
        <span>Emergency stop: all commands are held at their safe values.</span>
        <Button kind="plain" label="Release" text="Release" onClick={toggleStop} />
      </div>
    ) : null;
  }
  if (state === 'refused') return <Refused />;
  if (state === 'worldless') return null;
  if (state === 'connecting' && !retryAt.value) return null;
  const away = now.value - lostAt.value; // read, so that it is looked at again as time goes on
  if (state === 'lost' && awaited.value !== null && away < LOADING_MS) {
    return (
      <div class="banner info" role="status">
        <i class="spinner" />
        <span>{awaited.value.title} begins…</span>
      </div>
    );
  }
  // Somebody else may have chosen another scene, which comes in a moment.
  if (state === 'lost' && away < MOMENT_MS) return null;
  const wait = Math.max(0, Math.ceil((retryAt.value - now.value) / 1000));
  return (
    <div class="banner warn" role="status">
      <Icon name="offline" />
      <span>
        {state === 'lost' ? 'The program ended or cannot be reached. What you see is the last that came.' : 'No program answers at this address.'}{' '}
        {wait ? `Trying again in ${wait} s.` : 'Trying again…'}
      </span>
      <Button kind="plain" label="Try now" text="Try now" onClick={retryNow} />
    </div>
  );
}

export function Notices() {
  return (
    <div class="notices" role="log" aria-label="Notices">
      {notices.value.map((notice) => (
        <div key={notice.id} class={`notice ${notice.kind}`}>
          <span>{notice.text}</span>
          <Button icon="close" label="Dismiss" onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}
