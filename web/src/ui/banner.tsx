// banner.tsx: what is wrong with the connection, and what the page does about it.
import {signal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {retryNow} from '../live/connection';
import {connection, hello, notices, dismiss, retryAt, status, worldlessFor} from '../live/store';
import {toggleStop} from '../live/control';
import {Button} from './controls';
import {Icon} from './icon';

const now = signal(Date.now());

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
    return status.value?.stopped ? (
      <div class="banner stop" role="alert">
        <Icon name="stop" />
        <span>Emergency stop: all commands are held at their safe values.</span>
        <Button kind="plain" label="Release" text="Release" onClick={toggleStop} />
      </div>
    ) : null;
  }
  if (state === 'worldless') {
    return (
      <div class="banner info" role="status">
        <Icon name={worldlessFor.value} />
        {worldlessFor.value === 'sweeps' ? (
          <span>This program makes a sweep; no world runs in it. <a href="#sweeps">To the sweeps</a></span>
        ) : (
          <span>This program collects telemetry; no world runs in it. <a href="#telemetry">To the telemetry</a></span>
        )}
      </div>
    );
  }
  if (state === 'connecting' && !retryAt.value) return null;
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
