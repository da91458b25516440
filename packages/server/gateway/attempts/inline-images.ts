import { invalid } from '@rideau/llm/formats/shared/read-fields'
import { findImageType } from '@rideau/llm/images/image-type'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart, Message } from '@rideau/llm/request/message'
import { type GuardedAnswer, guardedRequest } from '../../http/guarded-request.ts'
import { findUrlObjection } from '../../http/outgoing-url.ts'
import type { PlannedTarget } from '../plan/chat-plan.ts'
import type { RequestContext } from '../request/request-context.ts'
import { waitFor } from '../request/wait-for.ts'
import type { AttemptDeps } from './attempt-deps.ts'

/** Data URLs, by the address of the image. */
export type FetchedImages = Map<string, string>

const MAX_IMAGES = 16
/** Limit on all images of a request together. Providers accept about this much in one body. */
const MAX_BYTES = 20 * 1024 * 1024
/** Timeout of one image, redirects included. */
const TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 3

/** Whether the target's provider cannot fetch images and the request names one by its address. */
export function needsImages({ format, provider, request }: PlannedTarget): boolean {
  if (format.inlinesImages !== true && provider.inlinesImages !== true) return false
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
  images: FetchedImages,
  deps: Pick<AttemptDeps, 'callerEgress'>,
): Promise<ChatRequest> {
  await waitFor(ctx, fetchAll(ctx, request.messages, images, deps))
  return { ...request, messages: request.messages.map(message => inline(message, images)) }
}

/** Fetches one image after another, so that the bytes left for a request are known before each. */
async function fetchAll(
  ctx: RequestContext,
  messages: readonly Message[],
  images: FetchedImages,
  deps: Pick<AttemptDeps, 'callerEgress'>,
): Promise<void> {
  let left = MAX_BYTES
  for (const [i, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [j, part] of content.entries()) {
      const url = findAddress(part)
      if (url === undefined || images.has(url)) continue
      ctx.throwIfStopped()
      const param = `messages[${i}].content[${j}].image_url.url`
      if (images.size === MAX_IMAGES) {
        throw invalid(
          param,
          `must not be one of more than ${MAX_IMAGES} images named by URL; send the others as data URLs.`,
        )
      }
      const bytes = await fetchImage(url, param, left, deps)
      left -= bytes.length
      images.set(url, `data:${findImageType(bytes)};base64,${bytes.toString('base64')}`)
    }
  }
}

/**
 * The one message for every failure: a caller must not learn which names, addresses and ports exist where the gateway runs.
 */
const NOT_FETCHED = `could not be fetched: it must lead to an image of a known type within ${TIMEOUT_MS} ms and ${MAX_REDIRECTS} redirects; all images of a request may have 20 MiB.`

/** Fetches the image at an address that a caller names. Throws `invalid_request` with `param`. */
export async function fetchImage(
  address: string,
  param: string,
  maxBytes: number,
  { callerEgress: policy }: Pick<AttemptDeps, 'callerEgress'>,
): Promise<Buffer> {
  const deadline = performance.now() + TIMEOUT_MS
  let url = address
  for (let redirects = 0; ; redirects++) {
    const objection = findUrlObjection(url, policy)
    // The text of the first address tells nothing about the network; where a redirect leads does.
    if (objection !== undefined) throw invalid(param, redirects === 0 ? `${objection}.` : NOT_FETCHED)
    const answer = await guardedRequest(url, {
      headers: { accept: 'image/*', 'user-agent': 'rideau' },
      policy,
      timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
      maxBytes,
    })
    if (!answer.ok) throw invalid(param, NOT_FETCHED)
    const next = findRedirect(answer, url)
    if (next === undefined) return readImage(answer, param)
    if (redirects === MAX_REDIRECTS) throw invalid(param, NOT_FETCHED)
    url = next
  }
}

/** Returns the address that an answer redirects to. Every redirect is checked like the first address. */
function findRedirect(
  { status, location }: Extract<GuardedAnswer, { ok: true }>,
  from: string,
): string | undefined {
  if (status < 300 || status >= 400 || !URL.canParse(location, from)) return undefined
  const next = new URL(location, from)
  next.hash = ''
  return next.href
}

function readImage(answer: Extract<GuardedAnswer, { ok: true }>, param: string): Buffer {
  const isImage = !answer.isCut && answer.status === 200 && findImageType(answer.body) !== undefined
  if (!isImage) throw invalid(param, NOT_FETCHED)
  return answer.body
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

function inline(message: Message, images: FetchedImages): Message {
  const { content } = message
  if (!Array.isArray(content) || !content.some(part => findAddress(part) !== undefined)) return message
  return {
    ...message,
    content: content.map(part => {
      const data = images.get(findAddress(part) ?? '')
      return data === undefined ? part : { ...part, image_url: { ...(part.image_url as object), url: data } }
    }),
  }
}
