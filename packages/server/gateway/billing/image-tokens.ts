import { matchesAny } from '@rideau/llm/formats/shared/reading/model-pattern'
import { readImageSize } from '@rideau/llm/images/read-image-size'
import { toObject, toText } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { isImage, TOKENS_AN_IMAGE } from './count-input.ts'

/**
 * The most tokens that an image has at models that count more than TOKENS_AN_IMAGE. The first entry that names a model counts.
 * Sources, of August 2026: developers.openai.com/api/docs/guides/images-vision, platform.claude.com/docs/en/build-with-claude/vision.
 */
const MAX_TOKENS: readonly (readonly [models: readonly string[], tokens: number])[] = [
  // 1,536 patches, times 2.46 and 1.72.
  [['*gpt-4.1-nano*', '*gpt-5*-nano*'], 3_779],
  [['*gpt-4.1-mini*', '*gpt-5*-mini*', '*o4-mini*'], 2_642],
  [['*gpt-5.4*', '*gpt-5.5*', '*gpt-5.6*'], 2_500],
  [['*claude-opus-4-7*', '*claude-opus-4-8*', '*claude-opus-4.7*', '*claude-opus-4.8*'], 4_784],
  [['*claude-opus-5*', '*claude-sonnet-5*', '*claude-fable-5*', '*claude-mythos-5*'], 4_784],
]
/**
 * Models that count tiles of 512 pixels, and more than TOKENS_AN_IMAGE for the first. Others that count tiles (gpt-4o, with 85 and
 * 170) have fewer for the largest image.
 */
const TILED: readonly string[] = ['*gpt-4o-mini*']
const TOKENS_BESIDE_TILES = 2_833
const TOKENS_A_TILE = 5_667
/** Of 2,048 by 768 pixels. */
const MAX_TILES = 8
/** An image in low detail, at the model that counts most for it. */
const MAX_IN_LOW_DETAIL = 2_833
/** An image that is not made smaller: 10,000 patches, and some for rounding. */
const MAX_AS_IT_IS = 12_000
/** The images of a request whose size is read, which decodes 96 KiB of each. Further ones count as the largest. */
const MAX_READ = 50

const NONE: readonly ContentPart[] = []

/** Returns the images of a request. */
export function listImages({ messages }: ChatRequest): readonly ContentPart[] {
  let images: ContentPart[] | undefined
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (part.type !== 'image_url' || !isImage(part)) continue
      images ??= []
      images.push(part)
    }
  }
  return images ?? NONE
}

/** Returns the tokens that the images of a request may have at a model beyond those that countInput counts. */
export function countLargeImages(
  images: readonly ContentPart[],
  { model }: { readonly model: string },
): number {
  if (images.length === 0) return 0
  const isTiled = matchesAny(model, TILED)
  const most = isTiled ? toTileTokens(MAX_TILES) : Math.max(TOKENS_AN_IMAGE, mostTokensOf(model))
  let sum = 0
  images.forEach((part, index) => {
    sum += (isTiled && index < MAX_READ ? countTiled(part) : toMaxTokens(part, most)) - TOKENS_AN_IMAGE
  })
  return sum
}

function mostTokensOf(model: string): number {
  return MAX_TOKENS.find(([names]) => matchesAny(model, names))?.[1] ?? 0
}

function toMaxTokens(part: ContentPart, most: number): number {
  switch (detailOf(part)) {
    case 'low':
      return Math.min(most, MAX_IN_LOW_DETAIL)
    case 'original':
      return Math.max(most, MAX_AS_IT_IS)
    default:
      return most
  }
}

/** Tokens of images whose size was read: an alias asks once for each of its targets. */
const counted = new WeakMap<ContentPart, number>()

function countTiled(part: ContentPart): number {
  const detail = detailOf(part)
  if (detail === 'low') return TOKENS_BESIDE_TILES
  const tokens = counted.get(part) ?? toTileTokens(detail === 'original' ? MAX_TILES : countTiles(part))
  counted.set(part, tokens)
  return tokens
}

function detailOf(part: ContentPart): unknown {
  return toObject(part.image_url)?.detail
}

function toTileTokens(tiles: number): number {
  return TOKENS_BESIDE_TILES + tiles * TOKENS_A_TILE
}

/**
 * Returns the tiles of an image that the request has in its body, by its header; of any other the most. OpenAI fits an image into
 * 2,048 by 2,048 pixels, then its shorter side into 768. A smaller image stays as it is.
 */
function countTiles(part: ContentPart): number {
  const size = readImageSize(toText(toObject(part.image_url)?.url) ?? '')
  if (size === undefined) return MAX_TILES
  const [long, short] = [Math.max(size.width, size.height), Math.min(size.width, size.height)]
  const along = Math.min(long, 2_048, (768 * long) / short)
  const across = Math.min(short, 768, (2_048 * short) / long)
  return Math.ceil(along / 512) * Math.ceil(across / 512)
}
