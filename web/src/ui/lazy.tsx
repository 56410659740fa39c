// lazy.tsx: a page that is loaded when it is first shown, so that the first page need not wait for all.
import type {ComponentType} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {generation} from '../live/store';
import {Button, Empty} from './controls';

export function lazy<P extends object = object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [, show] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return;
      let gone = false;
      load().then(
        (component) => {
          loaded = component;
          if (!gone) show((count) => count + 1);
        },
        () => gone || setFailed(true),
      );
      return () => void (gone = true);
    }, [generation.value]);
    if (loaded) {
      const Page = loaded;
      return <Page {...props} />;
    }
    if (!failed) return <div class="loading" role="status"><i />Loading this page…</div>;
    return (
      <Empty icon="offline" title="This page could not be loaded">
        <p>The program has ended, or is another version by now. It is tried again when the program is back.</p>
        <Button label="Reload" text="Reload" kind="primary" onClick={() => location.reload()} />
      </Empty>
    );
  };
}
