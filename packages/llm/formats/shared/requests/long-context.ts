import type { Json } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'

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

/** Claude by its name, or a profile of Bedrock that may stand for it. */
const CLAUDE = /\bclaude-|^arn:/

/**
 * Returns whether a beta raises the window of a provider's model. The catalogue has a price for input beyond the window of each model that has
 * such a beta. Of a model that it does not list, any Claude may have one.
 */
export function takesLongContext({ catalog }: Provider, model: string): boolean {
  if (!CLAUDE.test(model)) return false
  const listed = catalog?.models.find(({ id }) => id === model)
  if (listed === undefined) return true
  const { context_window: window, pricing } = listed
  return window !== null && pricing?.long_context?.some(long => long.over_input_tokens >= window) === true
}
