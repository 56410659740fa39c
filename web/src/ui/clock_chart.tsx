// clock_chart.tsx: traces over clock time, each as the band between its least and its greatest; uPlot keeps axes, scales and the cursor.
import {useEffect, useRef} from 'preact/hooks';
import uPlot from 'uplot';
import {formatTick} from '../format';
import {extent} from '../statistics';
import {cssColor} from '../theme';
import {range} from './chart';
import {watchSize} from './size';

export interface ClockChartProps {
  label: string;
  /** s UTC, rising. */
  times: number[];
  /** Of each trace least and greatest, with a value for each time. undefined: its line goes on; null: it is broken. */
  columns: (number | null | undefined)[][];
  /** Of each trace: CSS variables. */
  colours: string[];
  /** s UTC. */
  from: number;
  to: number;
  /** Of tzdata. */
  zone: string;
  /** Without: no axis for values, for what is only an overview. */
  axes?: boolean;
  /** Charts of one name share a cursor. */
  sync?: string;
  onZoom?: (from: number, to: number) => void;
  onReset?: () => void;
  /** The place in `times` under the cursor; null: it is elsewhere. */
  onCursor?: (index: number | null) => void;
}

const FONT = '11px "Inter", system-ui, sans-serif';
const DAY = '\n{D} {MMM} {YYYY}';
/** Clocks of 24 hours, and dates that nobody reads the wrong way round: tick, its text, and what is added with another year, month,
 *  day, hour, minute, second. */
const CLOCK: (string | number | null)[][] = [
  [3600 * 24 * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [3600 * 24 * 28, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [3600 * 24, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', DAY, null, DAY, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', DAY, null, DAY, null, null, null, 1],
  [0.001, '{ss}.{fff}', `${DAY} {HH}:{mm}`, null, `${DAY} {HH}:{mm}`, null, '\n{HH}:{mm}', null, 1],
];
const WHEEL = 0.0015;

/** The height follows what is there. */
function heightOf({columns}: ClockChartProps): [number, number] {
  const found = extent(columns);
  return found ? range(...found) : [0, 1];
}

function seriesOf({colours}: ClockChartProps): uPlot.Series[] {
  return colours.flatMap((colour): uPlot.Series[] => {
    const line: uPlot.Series = {stroke: cssColor(colour), width: 1, points: {show: false}};
    return [line, {...line}];
  });
}

/** Between the greatest and the least of each. Colours of the style sheet are #rrggbb. */
function bandsOf({colours}: ClockChartProps): uPlot.Band[] {
  return colours.map((colour, i) => ({series: [2 * i + 2, 2 * i + 1], fill: `${cssColor(colour)}48`}));
}

/** px that half a date takes. */
const HALF_DATE = 36;

/** Leaves out the labels that the edges would cut, where there is no room beside the plot. uPlot's own filter makes dates of 1970 of them. */
function keepWithinEdges(plot: uPlot): void {
  const axis = plot.axes[0]!;
  const textsOf = axis.values as uPlot.Axis.DynamicValues;
  axis.values = (self, splits, ...more) => {
    const fits = (split: number) => {
      const at = self.valToPos(split, 'x');
      return at >= HALF_DATE - self.over.offsetLeft && at <= self.over.clientWidth + self.over.offsetLeft - HALF_DATE;
    };
    const texts = textsOf(self, splits.filter(fits), ...more);
    let next = 0;
    return splits.map((split) => (fits(split) ? (texts[next++] ?? null) : null));
  };
}

function axesOf({axes = true}: ClockChartProps): uPlot.Axis[] {
  const common = {font: FONT, stroke: () => cssColor('--muted'), grid: {stroke: () => cssColor('--line'), width: 1}, ticks: {show: false}};
  return [
    {...common, size: axes ? 38 : 34, values: CLOCK as uPlot.Axis.Values, space: 80},
    {...common, show: axes, size: 58, space: (_, __, ___, ____, height) => Math.max(12, Math.min(24, height / 3)), values: (_, splits) => splits.map((value) => formatTick(value, splits.length > 1 ? splits[1]! - splits[0]! : 1))},
  ];
}

function make(host: HTMLElement, props: ClockChartProps, handlers: {current: ClockChartProps}): uPlot {
  const plot = new uPlot(
    {
      width: host.clientWidth || 300,
      height: host.clientHeight || 100,
      legend: {show: false},
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), props.zone),
      scales: {x: {time: true, auto: false}, y: {auto: false}},
      series: [{}, ...seriesOf(props)],
      bands: bandsOf(props),
      axes: axesOf(props),
      padding: [8, 12, 0, props.axes === false ? 12 : 0],
      cursor: {
        sync: props.sync ? {key: props.sync, setSeries: false} : undefined,
        drag: {x: !!props.onZoom, y: false, setScale: false},
        points: {show: false},
        y: false,
        show: props.axes !== false,
        bind: {dblclick: () => () => (handlers.current.onReset?.(), null)},
      },
      hooks: {
        setCursor: [({cursor}) => handlers.current.onCursor?.(cursor.left !== undefined && cursor.left >= 0 ? cursor.idx ?? null : null)],
        setSelect: [
          (made) => {
            const {left, width} = made.select;
            if (width > 4) handlers.current.onZoom?.(made.posToVal(left, 'x'), made.posToVal(left + width, 'x'));
            if (width) made.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          },
        ],
      },
    },
    [[], ...props.columns.map(() => [])],
    host,
  );
  if (props.axes === false) keepWithinEdges(plot);
  plot.over.addEventListener(
    'wheel',
    (event) => {
      if (!handlers.current.onZoom || event.ctrlKey) return;
      event.preventDefault();
      const {from, to} = handlers.current;
      const at = plot.posToVal(event.offsetX, 'x');
      const factor = Math.exp(WHEEL * event.deltaY);
      handlers.current.onZoom(at - (at - from) * factor, at + (to - at) * factor);
    },
    {passive: false},
  );
  return plot;
}

export function ClockChart(props: ClockChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const handlers = useRef(props);
  handlers.current = props;
  const show = useRef(() => {});
  // What the axes, lines and bands are made of; another one of these is another plot.
  const made = [props.colours.map((colour) => cssColor(colour)).join(), props.zone, props.axes, props.sync, cssColor('--line')];
  useEffect(() => {
    const element = host.current!;
    const plot = make(element, handlers.current, handlers);
    show.current = () => {
      const {times, columns, from, to} = handlers.current;
      const [least, greatest] = heightOf(handlers.current);
      plot.batch(() => {
        plot.setData([times, ...columns] as uPlot.AlignedData, false);
        plot.setScale('x', {min: from, max: Math.max(to, from + 1e-3)});
        plot.setScale('y', {min: least, max: greatest});
      });
    };
    const unwatch = watchSize(element, (width, height) => width && plot.setSize({width, height}));
    show.current();
    return () => {
      unwatch();
      plot.destroy();
    };
  }, made);
  useEffect(() => show.current(), [props.times, props.columns, props.from, props.to, ...made]);
  return <div ref={host} class="plot-canvas" role="img" aria-label={props.label} />;
}
