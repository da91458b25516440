import { matchesAny } from '@rideau/llm/formats/shared/model-pattern'
import { toObject } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { isImage, TOKENS_AN_IMAGE } from './count-input.ts'

/**
 * The most tokens that an image has at models that count more than TOKENS_AN_IMAGE. The first entry that names a model counts.
 * Sources, of August 2026: developers.openai.com/api/docs/guides/images-vision, platform.claude.com/docs/en/build-with-claude/vision.
 */
const MOST: readonly (readonly [models: readonly string[], tokens: number])[] = [
  // 2,833, and 5,667 for each of up to eight tiles.
  [['*gpt-4o-mini*'], 48_169],
  // 1,536 patches, times 2.46 and 1.72.
  [['*gpt-4.1-nano*', '*gpt-5*-nano*'], 3_779],
  [['*gpt-4.1-mini*', '*gpt-5*-mini*', '*o4-mini*'], 2_642],
  [['*gpt-5.4*', '*gpt-5.5*', '*gpt-5.6*'], 2_500],
  [['*claude-opus-4-7*', '*claude-opus-4-8*', '*claude-opus-4.7*', '*claude-opus-4.8*'], 4_784],
  [['*claude-opus-5*', '*claude-sonnet-5*', '*claude-fable-5*', '*claude-mythos-5*'], 4_784],
]
/** An image in low detail, at the model that counts most for it. */
const MAX_IN_LOW_DETAIL = 2_833
/** An image that is not made smaller: 10,000 patches, and some for rounding. */
const MAX_AS_IT_IS = 12_000

/** Returns the tokens that the images of a request may have beyond those that countInput counts, at the model that counts most. */
export function countLargeImages(
  { messages }: ChatRequest,
  targets: readonly { readonly model: string }[],
): number {
  let sum = 0
  let most: number | undefined
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (part.type !== 'image_url' || !isImage(part)) continue
      most ??= Math.max(TOKENS_AN_IMAGE, ...targets.map(findMost))
      sum += toMost(part, most) - TOKENS_AN_IMAGE
    }
  }
  return sum
}

function findMost({ model }: { readonly model: string }): number {
  return MOST.find(([names]) => matchesAny(model, names))?.[1] ?? 0
}

function toMost(part: ContentPart, most: number): number {
  switch (toObject(part.image_url)?.detail) {
    case 'low':
      return Math.min(most, MAX_IN_LOW_DETAIL)
    case 'original':
      return Math.max(most, MAX_AS_IT_IS)
    default:
      return most
  }
}
