/** Columns over time, on a canvas that follows the theme and the width. */
import { type ReactNode, useEffect, useRef } from 'react';
import { short } from '../../data/format.js';
import '../../ui/language.js';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Props {
  readonly label: string;
  /** Seconds, and a count for each. */
  readonly columns: [number[], number[]];
  readonly height: number;
  /** Width of a column, in seconds. */
  readonly step: number;
  readonly onHover: (at: number | undefined) => void;
}

const variable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The canvas knows no light-dark(): the browser resolves the colour of an element. */
function colorOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const color = getComputedStyle(element).color;
  element.style.color = '';
  return color;
}

function optionsFor(frame: HTMLElement, { height, step, onHover }: Props): uPlot.Options {
  const color = (name: string) => () => colorOf(frame, name);
  const font = `11px ${variable('--font-sans')}`;
  const axis = { stroke: color('--faint'), font, ticks: { show: false } };
  return {
    width: frame.clientWidth,
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: hours },
      {
        ...axis,
        size: 40,
        values: (_plot, counts) => counts.map(short),
        space: 32,
        grid: { stroke: color('--line'), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000],
      },
    ],
    series: [
      {},
      {
        fill: color('--accent'),
        stroke: color('--accent'),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.75, 40], align: 1 }),
      },
    ],
    hooks: {
      setCursor: [({ cursor: { idx } }) => onHover(idx ?? undefined)],
      // The last column ends with its step.
      setData: [(plot) => plot.setScale('x', { min: plot.data[0][0]!, max: plot.data[0].at(-1)! + step })],
    },
  };
}

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const hours = (_plot: uPlot, seconds: number[]): string[] => seconds.map((at) => hour.format(at * 1000));

export function Chart(props: Props): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { columns, step, height, label } = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step is another chart; data follow below.
  useEffect(() => {
    const element = frame.current!;
    const onHover: Props['onHover'] = (at) => latest.current.onHover(at);
    const chart = new uPlot(optionsFor(element, { ...latest.current, onHover }), latest.current.columns, element);
    plot.current = chart;
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const redraw = () => chart.redraw(false);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', redraw);
      chart.destroy();
      plot.current = undefined;
    };
  }, [step, height]);
  useEffect(() => plot.current?.setData(columns), [columns]);
  return <div ref={frame} className="chart" role="img" aria-label={label} style={{ height }} />;
}
