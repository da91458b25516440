import { toCount, toDuration } from './amounts.ts'
import { toMoney } from './money.ts'

/** What the values of a chart are. */
export type ChartUnit = 'count' | 'ms' | 'usd'

interface UnitTexts {
  /** The exact value, for the legend and the table. */
  readonly format: (value: number) => string
  /** A tick of the axis, short enough for its 60 pixels. Empty: the line has no label. */
  readonly toTick: (value: number) => string
}

export const CHART_UNITS: Readonly<Record<ChartUnit, UnitTexts>> = {
  count: { format: toCount, toTick: toCountTick },
  ms: { format: toDuration, toTick: toDurationTick },
  usd: { format: toMoney, toTick: toMoneyTick },
}

/** Part of a step that a sum of floating-point numbers may be too large by. */
const ROUNDING = 1e-9

/**
 * Returns the values of an axis from 0 to the first round step that is not below `max`, at most `most` steps apart. A step of a count
 * is a whole number, because half a request does not exist.
 */
export function toAxisValues(max: number, most: number, unit: ChartUnit): number[] {
  if (max <= 0) return [0, 1]
  const power = 10 ** Math.floor(Math.log10(max / most))
  const countSteps = (step: number): number => Math.ceil(max / step - ROUNDING)
  const round = [1, 2, 5].map(factor => factor * power).find(step => countSteps(step) <= most) ?? 10 * power
  const step = unit === 'count' ? Math.max(1, round) : round
  return Array.from({ length: countSteps(step) + 1 }, (_, index) => index * step)
}

/** `800`, `48.2K`, `2M`. */
function toCountTick(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 })
}

/** `0`, `400 ms`, `2.5 s`, `150 s`, `15 min`: one unit, where toDuration has two. */
function toDurationTick(ms: number): string {
  if (ms === 0) return '0'
  if (ms < 1_000) return toDuration(ms)
  if (ms < 600_000) return `${trim(ms / 1_000)} s`
  return `${trim(ms / 60_000)} min`
}

/** `$0`, `$0.002`, `$0.5`, `$2`, `$1.2K`. */
function toMoneyTick(usd: number): string {
  if (usd === 0) return '$0'
  if (usd < 1_000) return `$${trim(usd, usd < 0.01 ? 7 : usd < 0.1 ? 3 : 2)}`
  return `$${usd.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 })}`
}

function trim(value: number, decimals = 1): string {
  return value.toFixed(decimals).replace(/\.?0+$/, '')
}
