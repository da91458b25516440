import type { Provider } from '@rideau/llm/provider/provider'

/**
 * Output tokens that a model generates in a second, rather too many: expensive models have 50 to 150. Providers that are faster
 * say so (`Provider.tokensASecond`); their models cost less.
 */
const TOKENS_A_SECOND = 200

/**
 * Returns the most output tokens that a provider can have generated in `ms` milliseconds, whether or not the gateway saw
 * them: never 0, since a model has begun with what it was sent. Each of the `choices` is generated at the same time.
 */
export function maxGenerated(ms: number, choices: number, provider: Provider): number {
  return Math.max(1, Math.ceil((ms / 1000) * (provider.tokensASecond ?? TOKENS_A_SECOND))) * choices
}
