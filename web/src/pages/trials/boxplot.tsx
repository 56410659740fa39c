// boxplot.tsx: times of groups side by side: box from quartile to quartile, median, whiskers to the ends, every trial a dot.
import {formatValue} from '../../format';
import type {Summary} from '../../statistics';

export interface Group {
  name: string;
  times: number[];
  summary: Summary;
}

const ROW = 44;
const LEFT = 150;
const WIDTH = 760;
const AXIS = 26;

/** A round number of about a fifth of the range. */
function tickStep(range: number): number {
  const raw = range / 6;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw)!;
}

export function BoxPlot({groups}: {groups: Group[]}) {
  const all = groups.flatMap(({times}) => times);
  const air = Math.max(0.5, 0.06 * (Math.max(...all) - Math.min(...all)));
  const from = Math.max(0, Math.min(...all) - air);
  const to = Math.max(...all) + air;
  const x = (time: number) => LEFT + ((time - from) / (to - from)) * (WIDTH - LEFT - 16);
  const step = tickStep(to - from);
  const ticks = Array.from({length: Math.floor(to / step) - Math.ceil(from / step) + 1}, (_, i) => (Math.ceil(from / step) + i) * step);
  const height = groups.length * ROW + AXIS;
  return (
    <svg class="boxplot" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`Box plot of ${groups.map(({name, summary}) => `${name}: median ${formatValue(summary.median, 3)} s`).join('; ')}`}>
      {ticks.map((tick) => (
        <g key={tick} class="tick">
          <line x1={x(tick)} x2={x(tick)} y1={0} y2={height - AXIS} />
          <text x={x(tick)} y={height - 8} text-anchor="middle">{formatValue(tick, 3)} s</text>
        </g>
      ))}
      {groups.map(({name, times, summary}, i) => {
        const y = i * ROW + ROW / 2;
        return (
          <g key={name} class={`box box-${(i % 10) + 1}`}>
            <text class="box-name" x={LEFT - 14} y={y + 4} text-anchor="end">{name.length > 24 ? `${name.slice(0, 23)}…` : name}</text>
            <line x1={x(summary.least)} x2={x(summary.greatest)} y1={y} y2={y} />
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
