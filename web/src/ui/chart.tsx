/** A chart over time. uPlot draws on a canvas, so the colours are read from the theme. */
import 'uplot/dist/uPlot.min.css';
import { type ReactNode, useEffect, useRef } from 'react';
import './language.js';
import uPlot from 'uplot';

interface Series {
  readonly label: string;
  /** A variable of the theme. */
  readonly color: string;
  readonly values: readonly number[];
  readonly fill?: boolean;
}

interface Props {
  readonly label: string;
  /** Seconds since 1970, rising. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** A computed colour: `light-dark()` means nothing to a canvas. */
function colorOf(element: HTMLElement, variable: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function options(element: HTMLElement, { series, height = 200 }: Props): uPlot.Options {
  const [muted, line] = [colorOf(element, '--muted'), colorOf(element, '--line')];
  const axis = {
    stroke: muted,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: '11px ui-sans-serif, system-ui',
  };
  return {
    width: element.clientWidth,
    height,
    cursor: { drag: { x: false, y: false } },
    legend: { show: false },
    axes: [axis, { ...axis, size: 56 }],
    series: [
      {},
      ...series.map(({ label, color, fill }) => {
        const stroke = colorOf(element, color);
        return {
          label,
          stroke,
          width: 1.75,
          points: { show: false },
          ...(fill ? { fill: stroke.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.12)') } : {}),
        };
      }),
    ],
  };
}

export function Chart(props: Props): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const { label, times, series, height = 200 } = props;
  useEffect(() => {
    const element = frame.current!;
    let plot: uPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(options(element, props), [[...times], ...series.map(({ values }) => [...values])], element);
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [props, times, series, height]);
  const last = series.map(({ label: name, values }) => `${name}: ${values.at(-1) ?? 0}`).join(', ');
  return <div ref={frame} role="img" aria-label={`${label}. ${last}`} style={{ minHeight: height }} />;
}
