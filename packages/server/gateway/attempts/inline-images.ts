import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import { findImageType } from '@rideau/llm/images/image-type'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { FormatId } from '@rideau/llm/request/format-id'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import type { MediaAddresses } from '@rideau/llm/upstream/media-addresses'
import type { RequestContext } from '../request/request-context.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { type FetchImageDeps, runFetches } from './fetch-image.ts'
import { type FetchedImages, ImageUses } from './image-uses.ts'

/** Data URLs, by the address of the image. */
export type FetchedUrls = FetchedImages<string>

/** One address may be named several times, and counts each time. */
const MAX_IMAGES = 16

/**
 * Whether the request names an image by its address that the target's provider cannot fetch, or may not for this caller
 * (`addresses`). `bodyFormat`: of the caller's body.
 */
export function needsImages(
  { format, provider, request }: ChatTarget,
  bodyFormat: FormatId,
  addresses: MediaAddresses,
): boolean {
  const isPassed = format.id === bodyFormat
  if (isPassed && format.passesOwn === true) return false
  const isKept = format.inlinesImages !== true && provider.inlinesImages !== true
  // A body that goes out as it came is refused by the last check.
  if (isKept && (addresses !== 'none' || (isPassed && format.inlinesInOwn !== true))) return false
  return request.messages.some(
    ({ content }) => Array.isArray(content) && content.some(part => findAddress(part) !== undefined),
  )
}

/**
 * Returns the request with every image that it names by address inlined as a data URL, for providers that do not fetch
 * images. Throws `invalid_request` that names the image's place. The answer of the image's host is not disclosed, since
 * callers could use it to explore the gateway's network.
 */
export async function inlineImages(
  ctx: RequestContext,
  request: ChatRequest,
  images: FetchedUrls,
  deps: FetchImageDeps,
): Promise<ChatRequest> {
  await runFetches(ctx, deps, fetcher => fetchAll(ctx, request.messages, new ImageUses(images, fetcher)))
  const messages = request.messages.map(message => inline(message, images))
  return { ...request, messages, hasFetchedImages: true }
}

/** Fetches one image after another, so that the bytes left for a request are known before each. */
async function fetchAll(
  ctx: RequestContext,
  messages: readonly Message[],
  uses: ImageUses<string>,
): Promise<void> {
  let count = 0
  for (const [i, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [j, part] of content.entries()) {
      const url = findAddress(part)
      if (url === undefined) continue
      ctx.assertNotStopped()
      const param = `messages[${i}].content[${j}].image_url.url`
      if (count++ === MAX_IMAGES) {
        throw invalid(
          param,
          `must not be one of more than ${MAX_IMAGES} images named by URL; send the others as data URLs.`,
        )
      }
      await uses.add(url, param, toDataUrl)
    }
  }
}

function toDataUrl(bytes: Buffer): string {
  return `data:${findImageType(bytes)};base64,${bytes.toString('base64')}`
}

/**
 * The address of an image part. undefined: not an image, or not an http address. Data URLs are sent on; other schemes
 * belong to the provider.
 */
function findAddress(part: ContentPart): string | undefined {
  if (part.type !== 'image_url') return undefined
  const { image_url: image } = part
  const url = typeof image === 'object' && image !== null && !Array.isArray(image) ? image.url : undefined
  return typeof url === 'string' && /^https?:/i.test(url) ? url : undefined
}

function inline(message: Message, images: FetchedUrls): Message {
  const { content } = message
  if (!Array.isArray(content) || !content.some(part => findAddress(part) !== undefined)) return message
  return {
    ...message,
    content: content.map(part => {
      const data = images.get(findAddress(part) ?? '')?.content
      return data === undefined ? part : { ...part, image_url: { ...(part.image_url as object), url: data } }
    }),
  }
}
