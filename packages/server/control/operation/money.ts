import { toUsd } from '@rideau/llm/usage/money'
import { z } from './zod.ts'

const NANO_PER_USD = 1_000_000_000

/** The largest amount in USD that a field accepts: up to here a double distinguishes every nano-dollar. */
export const MAX_USD = 1_000_000

/**
 * Converts USD as sent, from 0 to MAX_USD, to whole nano-dollars. In that range the product of a double is off by less
 * than a quarter of a nano-dollar, so rounding returns the decimal that was written: 0.29 becomes 290,000,000.
 */
export function toNanoUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD)
}

/** An amount that is stored. A shorter part of a nano-dollar would be lost, and a very small amount become zero. */
export const usdField = z
  .number()
  .min(0)
  .max(MAX_USD)
  .refine(usd => toUsd(toNanoUsd(usd)) === usd, 'must have at most nine decimals')
