import { matchesAny } from '../formats/shared/reading/model-pattern.ts'
import { toTable } from '../json/to-table.ts'
import type { ImagePrices } from '../provider/prices.ts'
import type { ImageRequest, ImageUsage } from './image-format.ts'
import { parseSize } from './image-size.ts'

/** Prices for tokens have at most six decimals, so a token at one unit costs a thousandth of a nano-dollar. */
const PRICE_UNITS = 1_000_000
const UNITS_PER_NANO_USD = 1000
const NANO_USD = 1_000_000_000

/**
 * What images cost in whole nano-dollars, rounded up once; null: the price is unknown, which is never zero. A price for
 * an image goes before one for tokens; `factor`: how much dearer each is than the model's usual one
 * (ImageFormat.priceFactor). Without usage a model that is priced by tokens has no known cost.
 */
export function imageCostNanoUsd(
  images: number,
  usage: ImageUsage | undefined,
  prices: ImagePrices | undefined,
  factor = 1,
): number | null {
  if (prices === undefined) return null
  if (prices.per_image !== undefined) return images * Math.round(prices.per_image * factor * NANO_USD)
  if (usage === undefined) return null
  const {
    text_input: text,
    image_input: image = text,
    image_output: drawn,
    text_output: said = drawn,
  } = prices
  const buckets: readonly (readonly [tokens: number, price: number | undefined])[] = [
    [usage.textInput, text],
    [usage.textCacheRead, prices.text_cache_read ?? text],
    [usage.imageInput, image],
    [usage.imageCacheRead, prices.image_cache_read ?? image],
    [usage.textOutput, said],
    [usage.imageOutput, drawn],
  ]
  let units = 0
  for (const [tokens, price] of buckets) {
    if (tokens === 0) continue
    if (price === undefined) return null
    units += tokens * Math.round(price * PRICE_UNITS)
  }
  return Math.ceil(units / UNITS_PER_NANO_USD)
}

const USUAL_PIXELS = 1024 * 1024
/** Tokens of an image of 1024x1024, by quality; other sizes cost by their area. `max`: of `high`, and where none is named. */
interface QualityTable {
  readonly qualities: Readonly<Record<string, number>>
  readonly max: number
}

/** OpenAI's table for its first image models. */
const FIRST_MODELS = ['*gpt-image-1*', '*gpt-5-image*']
const OF_FIRST_MODELS: QualityTable = { qualities: toTable({ low: 272, medium: 1056 }), max: 4160 }
/** What the prices of single images of GPT Image 2 are in tokens: $0.053 and $0.211 at $30 a million. */
const OF_NEWER_MODELS: QualityTable = { qualities: toTable({ low: 272, medium: 1767 }), max: 7034 }
/** Where the model chooses the size: the largest that it chooses by itself is 1024x1536. */
const CHOSEN_AREA = 1.5
/** The most that any model here counts for an image that it is given. */
const IMAGE_INPUT_TOKENS = 6300
/** The text that comes with an image: the model's reasoning. No provider documents a maximum; this is far above what was seen. */
const TEXT_OUTPUT_TOKENS = 4096
/** No model that makes images has a larger maximum of output. */
const MAX_TEXT_TOKENS = 65_536

/**
 * Returns the most that a request may use of a model that is priced by tokens: for each image `maxImageTokens`, or the
 * figure in OpenAI's table. `model`: its name at the provider.
 */
export function maxImageUsage(
  request: ImageRequest,
  promptTokens: number,
  prices: ImagePrices,
  model: string,
  maxImageTokens = byTable(request, model),
): ImageUsage {
  const given = (request.images?.length ?? 0) + (request.mask === undefined ? 0 : 1)
  // Where one request becomes several calls, each of them sends the input again.
  return {
    textInput: promptTokens * request.n,
    textCacheRead: 0,
    imageInput: given * IMAGE_INPUT_TOKENS * request.n,
    imageCacheRead: 0,
    textOutput: prices.text_output === undefined ? 0 : maxText(request) * request.n,
    imageOutput: maxImageTokens * request.n,
  }
}

/** A caller that raises the cap may get as much text. */
function maxText({ google }: ImageRequest): number {
  const cap = google?.config.maxOutputTokens
  return typeof cap === 'number'
    ? Math.min(Math.max(cap, TEXT_OUTPUT_TOKENS), MAX_TEXT_TOKENS)
    : TEXT_OUTPUT_TOKENS
}

function byTable({ size, quality }: ImageRequest, model: string): number {
  const { qualities, max } = matchesAny(model, FIRST_MODELS) ? OF_FIRST_MODELS : OF_NEWER_MODELS
  const requestedSize = parseSize(size)
  const area =
    requestedSize === undefined
      ? CHOSEN_AREA
      : Math.max(1, (requestedSize.width * requestedSize.height) / USUAL_PIXELS)
  return Math.ceil((qualities[quality ?? ''] ?? max) * area)
}
