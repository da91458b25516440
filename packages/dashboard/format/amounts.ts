/** `48,211` */
export function toCount(value: number): string {
  return value.toLocaleString('en-US')
}

/** `412 ms`, `3.21 s`, `2 min 05 s`. */
export function toDuration(ms: number): string {
  if (ms < 10) return `${trim(ms.toFixed(1))} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

function trim(text: string): string {
  return text.replace(/\.0$/, '')
}

/** `+12 %`, `−5.2 %`, `no change`; undefined if there was nothing before. */
export function toChange(value: number, before: number): string | undefined {
  if (before === 0) return undefined
  const share = Math.abs(value - before) / before
  if (share < 0.001) return 'no change'
  const percent = share < 1 ? toPercent(share) : withPercent(toCount(Math.round(share * 100)))
  return `${value > before ? '+' : '−'}${percent}`
}

/** `0.9 %`, `20,520 %`, in one line; a share that is not zero never shows as zero. */
export function toPercent(share: number): string {
  if (share === 0) return withPercent('0')
  if (share < 0.001) return withPercent('<0.1')
  return withPercent((share * 100).toLocaleString('en-US', { maximumFractionDigits: 1 }))
}

/** A no-break space keeps the sign beside its number. */
function withPercent(number: string): string {
  return `${number}\u00a0%`
}
