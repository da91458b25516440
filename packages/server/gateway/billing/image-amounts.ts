import type { ImageFormat, ImageReply, ImageRequest, ImageUsage } from '@rideau/llm/images/image-format'
import { imageCostNanoUsd, mostImageUsage } from '@rideau/llm/images/image-pricing'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import type { Usage } from '@rideau/llm/usage/usage'
import type { Amounts } from '../../ledger/ledger.ts'

/** What of a target decides what its images cost. */
export interface ImagePriced {
  readonly model: string
  readonly catalogModel: CatalogModel | undefined
  readonly format: ImageFormat
}

/** The most that a request may use of a target; `nanoUsd` null: its price is unknown. */
export function maxImageAmounts(
  request: ImageRequest,
  target: ImagePriced,
): { tokens: number; nanoUsd: number | null } {
  const prices = target.catalogModel?.image_pricing
  const usage = mostUsage(request, target)
  const nanoUsd = priceOf(request, target, request.n, usage)
  // A model that is priced by the image counts no tokens.
  return { tokens: prices?.per_image === undefined ? sum(usage) : 0, nanoUsd }
}

/** What is held of limits: the most at the dearest of the targets. */
export function toReservedImageAmounts(request: ImageRequest, targets: readonly ImagePriced[]): Amounts {
  const maxima = targets.map(target => maxImageAmounts(request, target))
  return {
    tokens: Math.max(...maxima.map(({ tokens }) => tokens)),
    nanoUsd: Math.max(...maxima.map(({ nanoUsd }) => nanoUsd ?? 0)),
  }
}

/**
 * What images used and cost: the provider's own word where its word counts, else by the catalogue. Where tokens are priced
 * and none were named, the most stands in: never nothing for something that was made.
 */
export function toImageBill(request: ImageRequest, target: ImagePriced, reply: ImageReply): Bill {
  const count = reply.images.length
  const prices = target.catalogModel?.image_pricing
  const isEstimated = reply.usage === undefined && prices !== undefined && prices.per_image === undefined
  const usage = isEstimated ? mostUsage({ ...request, n: count }, target) : reply.usage
  return {
    usage: toUsage(usage),
    isEstimated,
    costNanoUsd: reply.costNanoUsd ?? priceOf(request, target, count, usage),
  }
}

/** For images of which nobody got an answer: all of them at their most, which is what was held of them. */
export function toAbandonedImageBill(request: ImageRequest, target: ImagePriced, images: number): Bill {
  const abandoned = { ...request, n: images }
  const usage = mostUsage(abandoned, target)
  const isPerImage = target.catalogModel?.image_pricing?.per_image !== undefined
  return {
    usage: toUsage(isPerImage ? undefined : usage),
    isEstimated: true,
    costNanoUsd: priceOf(abandoned, target, images, usage),
  }
}

function mostUsage(request: ImageRequest, { format, model, catalogModel }: ImagePriced): ImageUsage {
  const promptTokens = estimateTokens(request.prompt)
  const prices = catalogModel?.image_pricing ?? {}
  return mostImageUsage(request, promptTokens, prices, format.mostImageTokens?.(model))
}

function priceOf(
  request: ImageRequest,
  { format, model, catalogModel }: ImagePriced,
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
