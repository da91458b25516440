import type { ImageFormat, ImageReply, ImageRequest, ImageUsage } from '@rideau/llm/images/image-format'
import { imageCostNanoUsd, maxImageUsage } from '@rideau/llm/images/image-pricing'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateMaxTokens } from '@rideau/llm/usage/estimate'
import type { Usage } from '@rideau/llm/usage/usage'
import type { Amounts } from '../../ledger/ledger.ts'

/** The fields of a target that determine the cost of its images. */
export interface PricedImageTarget {
  readonly model: string
  readonly catalogModel: CatalogModel | undefined
  readonly format: ImageFormat
}

/** Returns the most that a request may use of a target. `nanoUsd` is null if the price is unknown. */
export function maxImageAmounts(
  request: ImageRequest,
  target: PricedImageTarget,
): { tokens: number; nanoUsd: number | null } {
  const prices = target.catalogModel?.image_pricing
  const usage = maxUsage(request, target)
  const nanoUsd = priceOf(request, target, request.n, usage)
  // Models priced per image count no tokens.
  return { tokens: prices?.per_image === undefined ? sum(usage) : 0, nanoUsd }
}

/** Returns what to reserve: the maximum over all targets. */
export function toReservedImageAmounts(
  request: ImageRequest,
  targets: readonly PricedImageTarget[],
): Amounts {
  const maxima = targets.map(target => maxImageAmounts(request, target))
  return {
    tokens: Math.max(...maxima.map(({ tokens }) => tokens)),
    nanoUsd: Math.max(...maxima.map(({ nanoUsd }) => nanoUsd ?? 0)),
  }
}

/**
 * Returns the bill of an image request: the cost that the provider reported if there is one, else the cost by the
 * catalogue. If tokens are priced and the provider reported none, bills the maximum, so that images are never free.
 */
export function toImageBill(request: ImageRequest, target: PricedImageTarget, reply: ImageReply): Bill {
  const count = reply.images.length
  const prices = target.catalogModel?.image_pricing
  const isEstimated = reply.usage === undefined && prices !== undefined && prices.per_image === undefined
  const usage = isEstimated ? maxUsage({ ...request, n: count }, target) : reply.usage
  return {
    usage: toUsage(usage),
    isEstimated,
    costNanoUsd: reply.costNanoUsd ?? priceOf(request, target, count, usage),
  }
}

/** The bill of images whose calls ended without an answer: each at its maximum, which is what was reserved. */
export function toAbandonedImageBill(request: ImageRequest, target: PricedImageTarget, images: number): Bill {
  const abandoned = { ...request, n: images }
  const usage = maxUsage(abandoned, target)
  const isPerImage = target.catalogModel?.image_pricing?.per_image !== undefined
  return {
    usage: toUsage(isPerImage ? undefined : usage),
    isEstimated: true,
    costNanoUsd: priceOf(abandoned, target, images, usage),
  }
}

/** The bill of calls whose images the provider took away, by what it counted. Images that no caller got have no price of their own. */
export function toWithheldImageBill(
  request: ImageRequest,
  target: PricedImageTarget,
  usage: ImageUsage,
): Bill {
  return { usage: toUsage(usage), isEstimated: false, costNanoUsd: priceOf(request, target, 0, usage) }
}

/** Each target of an alias asks for the tokens of the same prompt, which take up to 4 ms. */
const prompts = new WeakMap<ImageRequest, number>()

function maxUsage(request: ImageRequest, { format, model, catalogModel }: PricedImageTarget): ImageUsage {
  const promptTokens = countPrompt(request)
  const prices = catalogModel?.image_pricing ?? {}
  return maxImageUsage(request, promptTokens, prices, model, format.maxImageTokens?.(model))
}

function countPrompt(request: ImageRequest): number {
  let tokens = prompts.get(request)
  if (tokens === undefined) {
    tokens = estimateMaxTokens(request.prompt)
    prompts.set(request, tokens)
  }
  return tokens
}

function priceOf(
  request: ImageRequest,
  { format, model, catalogModel }: PricedImageTarget,
  images: number,
  usage: ImageUsage | undefined,
): number | null {
  return imageCostNanoUsd(images, usage, catalogModel?.image_pricing, format.priceFactor?.(request, model))
}

function toUsage(usage: ImageUsage | undefined): Usage {
  return {
    uncachedInput: (usage?.textInput ?? 0) + (usage?.imageInput ?? 0),
    cacheRead: (usage?.textCacheRead ?? 0) + (usage?.imageCacheRead ?? 0),
    cacheWrite: 0,
    output: (usage?.textOutput ?? 0) + (usage?.imageOutput ?? 0),
    reasoning: 0,
  }
}

function sum(usage: ImageUsage): number {
  return Object.values(usage).reduce((total: number, tokens: number) => total + tokens, 0)
}
