// patient_image.tsx: pictures that the program may have to make first. Few are asked for at a time: a browser has few connections to a
// program, and those are for what a person waits for.
import {useEffect, useRef} from 'preact/hooks';

const AT_ONCE = 2;
const waiting: (() => void)[] = [];
let underWay = 0;

function begin(): void {
  while (underWay < AT_ONCE && waiting.length) {
    underWay++;
    waiting.shift()!();
  }
}

/** A picture that adorns what stands beside it. It is asked for once it is about to be seen and it is its turn. */
export function PatientImage({src, class: name, width, height}: {src: string; class: string; width: number; height: number}) {
  const host = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const element = host.current!;
    let isUnderWay = false;
    const ask = () => {
      isUnderWay = true;
      element.src = src;
    };
    const end = () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      underWay--;
      begin();
    };
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({isIntersecting}) => isIntersecting)) return;
        watcher.disconnect();
        waiting.push(ask);
        begin();
      },
      {rootMargin: '200px'},
    );
    watcher.observe(element);
    element.addEventListener('load', end);
    element.addEventListener('error', end);
    return () => {
      watcher.disconnect();
      element.removeEventListener('load', end);
      element.removeEventListener('error', end);
      const at = waiting.indexOf(ask);
      if (at >= 0) waiting.splice(at, 1);
      if (isUnderWay) element.removeAttribute('src'); // or it would go on loading without being seen
      end();
    };
  }, [src]);
  return <img ref={host} class={name} alt="" width={width} height={height} />;
}
