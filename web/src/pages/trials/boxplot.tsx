// boxplot.tsx: times of groups side by side: box from quartile to quartile, median, whiskers to the ends, every trial a dot.
import {useRef} from 'preact/hooks';
import {formatValue} from '../../format';
import type {Summary} from '../../statistics';
import {useSize} from '../../ui/size';

export interface Group {
  name: string;
  times: number[];
  summary: Summary;
}

const ROW = 44;
const AXIS = 26;
const WIDEST = 1000;
/** Narrower than this, names stand above their boxes. */
const NARROW = 520;
const NAME = 150;
const NAME_ABOVE = 18;

/** A round number that divides the range into about `count` parts. */
function tickStep(range: number, count: number): number {
  const raw = range / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw)!;
}

/** Drawn as wide as its place is, so that its text is as large as all other. */
export function BoxPlot({groups}: {groups: Group[]}) {
  const host = useRef<HTMLDivElement>(null);
  const [width] = useSize(host);
  return <div ref={host}>{width > 0 && <Drawing groups={groups} width={Math.min(width, WIDEST)} />}</div>;
}

function Drawing({groups, width}: {groups: Group[]; width: number}) {
  const narrow = width < NARROW;
  const left = narrow ? 10 : NAME;
  const row = narrow ? ROW + NAME_ABOVE : ROW;
  const all = groups.flatMap(({times}) => times);
  const air = Math.max(0.5, 0.06 * (Math.max(...all) - Math.min(...all)));
  const from = Math.max(0, Math.min(...all) - air);
  const to = Math.max(...all) + air;
  const x = (time: number) => left + ((time - from) / (to - from)) * (width - left - 16);
  const step = tickStep(to - from, width / 110);
  const ticks = Array.from({length: Math.floor(to / step) - Math.ceil(from / step) + 1}, (_, i) => (Math.ceil(from / step) + i) * step);
  const height = groups.length * row + AXIS;
  return (
    <svg class="boxplot" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Box plot of ${groups.map(({name, summary}) => `${name}: median ${formatValue(summary.median, 3)} s`).join('; ')}`}>
      {ticks.map((tick) => (
        <g key={tick} class="tick">
          <line x1={x(tick)} x2={x(tick)} y1={0} y2={height - AXIS} />
          <text x={x(tick)} y={height - 8} text-anchor="middle">{formatValue(tick, 3)} s</text>
        </g>
      ))}
      {groups.map(({name, times, summary}, i) => {
        const y = (i + 1) * row - ROW / 2;
        return (
          <g key={name} class={`box box-${(i % 10) + 1}`}>
            <text class="box-name" x={narrow ? left : left - 14} y={narrow ? y - NAME_ABOVE : y + 4} text-anchor={narrow ? 'start' : 'end'}>{name.length > 24 ? `${name.slice(0, 23)}…` : name}</text>
            <line x1={x(summary.least)} x2={x(summary.lower)} y1={y} y2={y} />
            <line x1={x(summary.upper)} x2={x(summary.greatest)} y1={y} y2={y} />
            <line x1={x(summary.least)} x2={x(summary.least)} y1={y - 6} y2={y + 6} />
            <line x1={x(summary.greatest)} x2={x(summary.greatest)} y1={y - 6} y2={y + 6} />
            <rect x={x(summary.lower)} y={y - 11} width={Math.max(1, x(summary.upper) - x(summary.lower))} height={22} rx={3} />
            <line class="median" x1={x(summary.median)} x2={x(summary.median)} y1={y - 11} y2={y + 11} />
            {times.map((time, k) => <circle key={k} cx={x(time)} cy={y + ((k * 7) % 13) - 6} r={2.6} />)}
          </g>
        );
      })}
    </svg>
  );
}
