import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { ScrollableTable } from '../controls/scrollable-table.tsx'
import { CHART_UNITS, type ChartUnit, toAxisValues } from '../format/chart-units.ts'
import './charts.css'

export interface Series {
  readonly name: string
  /** The custom property of its colour, such as `--series-1`. */
  readonly color: string
  /** A null is drawn as a gap. */
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly title: string
  /** What the chart shows, in a sentence below the title. */
  readonly caption: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** Whether to draw stacked bars, in the order of the series, or lines. */
  readonly kind: 'bars' | 'lines'
  readonly unit: ChartUnit
  readonly heightPx?: number
  /** True: the last bucket is not over. It is hatched, since its values still grow. */
  readonly isLastRunning?: boolean
  /** Called with the first and the last bucket of a drag. After a click both are the clicked bucket. */
  readonly onSelect?: (first: number, last: number) => void
}

const HEIGHT_PX = 180
/** Of the vertical axis, from one value to the next. */
const MIN_STEP_PX = 21
const MOST_STEPS = 4
const AXIS_PX = 28
const TOP_PX = 8
/** An upper bound for the mean width of a label's characters. */
const CHARACTER_PX = 7
/** From one line of a hatched bucket to the next. */
const HATCH_PX = 7
/** A shorter movement of the pressed pointer is a click. */
const DRAG_PX = 8

export function Chart({
  title,
  caption,
  labels,
  series,
  kind,
  unit,
  heightPx = HEIGHT_PX,
  isLastRunning = false,
  onSelect,
}: ChartProps) {
  const { format } = CHART_UNITS[unit]
  const names = isLastRunning ? [...labels.slice(0, -1), `${labels.at(-1)}, not over yet`] : labels
  const container = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number>()
  const theme = useSyncExternalStore(subscribeToTheme, readTheme)
  const onSelectRef = useRef(onSelect)
  onSelectRef.current = onSelect
  const isSelectable = onSelect !== undefined
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const data = toData(labels.length, series, kind)
    const plot = new uPlot(
      toOptions(element, {
        labels,
        series,
        kind,
        unit,
        heightPx,
        isLastRunning,
        onHover: setHovered,
        onSelect: isSelectable ? (first, last) => onSelectRef.current?.(first, last) : undefined,
      }),
      data,
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
    // `theme` is a dependency because the colours are read when the plot is created.
  }, [labels, series, kind, unit, heightPx, isLastRunning, isSelectable, theme])
  return (
    <figure className="panel chart">
      <figcaption>
        <h2>{title}</h2>
        <p className="legend small">
          {hovered === undefined ? <span className="muted">{caption}</span> : <span>{names[hovered]}</span>}
          {series.map(({ name, color, values }) => {
            const value = hovered === undefined ? undefined : values[hovered]
            return (
              <span key={name} className="legend-entry">
                <span className="swatch" style={{ background: `var(${color})` }} />
                {name}
                {value != null && <strong> {format(value)}</strong>}
              </span>
            )
          })}
        </p>
      </figcaption>
      <div
        ref={container}
        className={isSelectable ? 'plot selectable' : 'plot'}
        style={{ height: heightPx }}
        aria-hidden="true"
      />
      <details>
        <summary>Show as table</summary>
        <ChartTable title={title} names={names} series={series} format={format} />
      </details>
    </figure>
  )
}

interface ChartTableProps extends Pick<ChartProps, 'title' | 'series'> {
  readonly names: readonly string[]
  readonly format: (value: number) => string
}

function ChartTable({ title, names, series, format }: ChartTableProps) {
  return (
    <ScrollableTable label={`${title}, as a table`}>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {series.map(({ name }) => (
            <th key={name} scope="col" className="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the buckets are in a fixed order, and labels may repeat.
          <tr key={index}>
            <td>{name}</td>
            {series.map(({ name: of, values }) => (
              <td key={of} className="number">
                {values[index] == null ? '–' : format(values[index])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </ScrollableTable>
  )
}

/** Returns the data of the plot. Stacked sums are drawn from the highest to the lowest, each over the one before. */
function toData(count: number, series: readonly Series[], kind: 'bars' | 'lines'): uPlot.AlignedData {
  const x = Array.from({ length: count }, (_, index) => index)
  if (kind === 'lines') return [x, ...series.map(({ values }) => [...values])]
  const sums = x.map(() => 0)
  const stacked = series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0)
      return sums[index] ?? 0
    }),
  )
  return [x, ...stacked.toReversed()]
}

interface PlotOptions extends Pick<ChartProps, 'labels' | 'series' | 'kind' | 'unit'> {
  readonly heightPx: number
  readonly isLastRunning: boolean
  readonly onHover: (index: number | undefined) => void
  readonly onSelect: ChartProps['onSelect'] | undefined
}

function toOptions(
  element: HTMLElement,
  { labels, series, kind, unit, heightPx, isLastRunning, onHover, onSelect }: PlotOptions,
): uPlot.Options {
  const colorOf = (name: string): string => resolveColor(element, name)
  const ordered = kind === 'bars' ? series.toReversed() : series
  const labelPx = CHARACTER_PX * labels.reduce((most, { length }) => Math.max(most, length), 0)
  const mostSteps = Math.min(MOST_STEPS, Math.floor((heightPx - AXIS_PX - TOP_PX) / MIN_STEP_PX))
  const toValues = (max: number): number[] => toAxisValues(max, mostSteps, unit)
  const axis = {
    stroke: colorOf('--muted'),
    font: '12px system-ui',
    ticks: { show: false },
  }
  const bars = kind === 'bars' ? { paths: uPlot.paths.bars?.({ size: [0.7, 40], gap: 1 }) } : {}
  return {
    width: element.clientWidth,
    height: heightPx,
    // The last label is centred below the last bucket and needs half its width beside it.
    padding: [TOP_PX, Math.max(18, labelPx / 2), 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: kind === 'lines' },
      // By default, the library suppresses the click after the smallest movement.
      drag: { x: onSelect !== undefined, y: false, setScale: false, dist: DRAG_PX, click: () => {} },
    },
    scales: {
      x: { time: false, range: (_, min, max) => [min - 0.6, max + 0.6] },
      y: { range: (_, __, max) => [0, toValues(max).at(-1) ?? 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: Math.max(64, labelPx + 16),
        size: AXIS_PX,
        incrs: [1, 2, 3, 4, 6, 8, 12, 24],
        values: (_, splits) => splits.map(split => labels[split] ?? ''),
      },
      {
        ...axis,
        grid: { stroke: colorOf('--line'), width: 1 },
        size: 60,
        splits: (_, __, ___, max) => toValues(max),
        values: (_, splits) => splits.map(CHART_UNITS[unit].toTick),
      },
    ],
    series: [
      {},
      ...ordered.map(({ name, color }, index) => ({
        label: name,
        stroke: colorOf(color),
        ...(kind === 'bars' ? { fill: colorOf(color), width: 0 } : { width: index === 0 ? 1.25 : 2.25 }),
        // A line needs two points. A value with a gap on both sides would not be seen without a dot.
        points: kind === 'bars' ? { show: false } : { show: true, size: 5, filter: listIsolated },
        ...bars,
      })),
    ] as uPlot.Series[],
    hooks: {
      setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)],
      ...(isLastRunning ? { drawClear: [plot => hatch(plot, labels.length - 1, colorOf('--line'))] } : {}),
      ...(onSelect === undefined ? {} : toSelectHooks(onSelect)),
    },
  }
}

/** Draws diagonal lines over the whole height of a bucket. Called before anything else is drawn. */
function hatch(plot: uPlot, bucket: number, color: string): void {
  const { ctx, bbox } = plot
  const left = plot.valToPos(bucket - 0.5, 'x', true)
  const width = plot.valToPos(bucket + 0.5, 'x', true) - left
  ctx.save()
  ctx.beginPath()
  ctx.rect(left, bbox.top, width, bbox.height)
  ctx.clip()
  ctx.strokeStyle = color
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.beginPath()
  for (let x = left - bbox.height; x < left + width; x += HATCH_PX * devicePixelRatio) {
    ctx.moveTo(x, bbox.top + bbox.height)
    ctx.lineTo(x + bbox.height, bbox.top)
  }
  ctx.stroke()
  ctx.restore()
}

/** Returns where a series has a value with a gap on both sides. */
function listIsolated(plot: uPlot, seriesIndex: number): number[] {
  const values = plot.data[seriesIndex] ?? []
  return [...values.keys()].filter(
    at => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  )
}

function toSelectHooks(onSelect: NonNullable<ChartProps['onSelect']>): uPlot.Hooks.Arrays {
  // The browser fires a click after a drag; it must not select one bucket.
  let isDragged = false
  return {
    setSelect: [
      plot => {
        const { left, width } = plot.select
        if (width === 0) return
        const [first, last] = [plot.posToIdx(left), plot.posToIdx(left + width)]
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        isDragged = true
        onSelect(first, last)
      },
    ],
    ready: [
      plot => {
        plot.over.addEventListener('mousedown', () => {
          isDragged = false
        })
        plot.over.addEventListener('click', () => {
          const { idx } = plot.cursor
          if (typeof idx === 'number' && !isDragged) onSelect(idx, idx)
        })
      },
    ],
  }
}

/** Returns the colour of a custom property in the current theme. A canvas does not resolve custom properties, so an element does. */
function resolveColor(parent: HTMLElement, property: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  parent.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function subscribeToTheme(listener: () => void): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)')
  const observer = new MutationObserver(listener)
  media.addEventListener('change', listener)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    media.removeEventListener('change', listener)
    observer.disconnect()
  }
}

function readTheme(): string {
  const chosen = document.documentElement.dataset.theme
  return chosen ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
}
