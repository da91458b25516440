import { findModel } from '@rideau/llm/providers/catalog'
import { toUsd } from '@rideau/llm/usage/money'
import { costNanoUsd, outputPrice, pricesAt } from '@rideau/llm/usage/pricing'
import { findCustomPricing } from '../../storage/models/custom-models.ts'
import type { Db } from '../../storage/pool.ts'
import type { RequestLogRow } from '../../storage/records/request-log-list.ts'
import { z } from '../operation/zod.ts'

export const CostPart = z
  .strictObject({
    kind: z.enum(['input', 'cache_read', 'cache_write', 'output', 'request']).meta({
      description: '`output` includes reasoning; `request` is the price of the request itself.',
    }),
    tokens: z.int().nullable(),
    usd_per_mtok: z.number().nullable(),
    cost_usd: z.number(),
  })
  .meta({ id: 'CostPart' })

/**
 * Returns how the cost of a request is made up, by the prices of its model today; null where they do not give the cost that
 * was recorded: they have changed, or something besides tokens was charged, or an abandoned attempt.
 */
export async function explainCost(db: Db, row: RequestLogRow): Promise<z.output<typeof CostPart>[] | null> {
  if (row.provider === null || row.model === null || row.cost_nano_usd === null) return null
  const nameAtProvider = row.model.slice(row.provider.length + 1)
  const pricing =
    (await findCustomPricing(db, row.environment_id, row.model)) ??
    findModel(row.provider, nameAtProvider)?.pricing ??
    null
  const usage = {
    uncachedInput: row.uncached_input_tokens,
    cacheRead: row.cache_read_tokens,
    cacheWrite: row.cache_write_tokens,
    output: row.output_tokens,
    reasoning: row.reasoning_tokens,
  }
  if (pricing === null || costNanoUsd(usage, pricing) !== row.cost_nano_usd) return null
  const prices = pricesAt(pricing, usage.uncachedInput + usage.cacheRead + usage.cacheWrite)
  const perRequest = pricing.per_request ?? 0
  return [
    toPart('input', usage.uncachedInput, prices.input),
    toPart('cache_read', usage.cacheRead, prices.cache_read ?? prices.input),
    toPart('cache_write', usage.cacheWrite, prices.cache_write ?? prices.input),
    toPart('output', usage.output + usage.reasoning, outputPrice(prices, usage)),
    ...(perRequest === 0
      ? []
      : [{ kind: 'request' as const, tokens: null, usd_per_mtok: null, cost_usd: perRequest }]),
  ].filter(({ tokens }) => tokens !== 0)
}

function toPart(kind: 'input' | 'cache_read' | 'cache_write' | 'output', tokens: number, price: number) {
  // A dollar for a million tokens is a thousand nano-dollars for one.
  return { kind, tokens, usd_per_mtok: price, cost_usd: toUsd(Math.ceil(tokens * price * 1000)) ?? 0 }
}
