/**
 * Returns a sum of money as text: `$0`, under a cent three significant digits, under a dollar four decimals, else two. A cost that is
 * not zero never shows as zero. null is an unknown price.
 */
export function toMoney(usd: number | null): string {
  if (usd === null) return 'unpriced'
  if (usd === 0) return '$0'
  const size = Math.abs(usd)
  const sign = usd < 0 ? '-' : ''
  if (size < 0.01) return `${sign}$${toDigits(size)}`
  if (size < 0.99995) return `${sign}$${size.toFixed(4)}`
  return `${sign}$${size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** Returns a cost for a column: with six decimals, so that the decimal points of its rows line up. */
export function toAlignedMoney(usd: number | null): string {
  if (usd === null || usd === 0) return toMoney(usd)
  if (Math.abs(usd) < 0.0000005) return '<$0.000001'
  const size = Math.abs(usd).toLocaleString('en-US', { minimumFractionDigits: 6, maximumFractionDigits: 6 })
  return `${usd < 0 ? '-' : ''}$${size}`
}

/** Returns three significant digits without an exponent. */
function toDigits(size: number): string {
  const decimals = Math.min(20, 2 - Math.floor(Math.log10(size)))
  return size.toFixed(decimals).replace(/0+$/, '')
}

/** Returns a price or a limit that somebody set with all its decimals, at least two. */
export function toPrice(usd: number): string {
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 9 })}`
}
