import type { Json } from '../../../json/json-value.ts'

/** Tokens that Claude reads at most where a beta raises its context window. */
export const LONG_CONTEXT = 1_000_000

/**
 * A list of betas, separated by commas, with one that speaks of the context, and is none of those that leave its length as it is. It takes
 * linear time.
 */
const RAISES = /(?:^|,)(?!\s*(?:context-management-|model-context-window-exceeded-))[^,]*context/i

/** Returns whether a value that names betas names one that raises the context window. undefined: it could not be read. */
export function raisesWindow(betas: Json | undefined): boolean {
  if (Array.isArray(betas)) return betas.some(beta => typeof beta === 'string' && RAISES.test(beta))
  return betas === undefined || (typeof betas === 'string' && RAISES.test(betas))
}
