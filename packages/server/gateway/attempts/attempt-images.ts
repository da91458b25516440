import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { ImageReply, ImageRequest, ImageUsage } from '@rideau/llm/images/image-format'
import type { Sender } from '@rideau/llm/upstream/outgoing-rules'
import type { EncodedRequest } from '@rideau/llm/upstream/upstream-request'
import type { Transport } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'
import {
  attemptWhole,
  parseAnswer,
  reportsError,
  STOPPED,
  toErrorText,
  unreadable,
  type WatchedContext,
  type WholeAnswer,
} from './attempt-whole.ts'
import { callWritten } from './authorize-written.ts'
import { ImageBodies, type ImageCalls } from './image-bodies.ts'
import { toGrant } from './to-grant.ts'
import { WatchGroup } from './watch-group.ts'

export interface ImageAttempt extends ImageCalls {
  readonly transport: Transport
  readonly decodeError: ClientFormat['decodeError']
  readonly sender: Sender
  /** Timeout of each call, in milliseconds. */
  readonly timeoutMs: number
  /** Unix milliseconds. */
  readonly now: () => number
}

/** The result of all calls of one attempt. */
export interface ImageResult {
  readonly result: AttemptResult<ImageReply>
  /** Images of calls that ended without an answer. The provider may have made and charged them. */
  readonly abandoned: number
  /** What calls used whose images the provider took away. undefined: nothing that was counted. */
  readonly withheld: ImageUsage | undefined
}

/** Concurrent calls of one request to a provider that limits the images of a call. Fewer where there is no memory for the bodies of so many. */
const MAX_PARALLEL = 5
const STOPPED_CALL: AttemptResult<never> & { ok: false } = { ok: false, error: STOPPED }

/**
 * One attempt at all images. Splits them into as many calls as the provider's limit requires, and starts no further
 * call after a failure. Images that were made are charged, so they are returned; the attempt fails only if there are
 * none.
 */
export async function attemptImages(options: ImageAttempt): Promise<ImageResult> {
  const { request, format, target, ctx } = options
  const maxImages = format.maxImages(target)
  const counts: number[] = []
  for (let remaining = request.n; remaining > 0; remaining -= maxImages)
    counts.push(Math.min(maxImages, remaining))
  const replies: ImageReply[] = []
  const group = new WatchGroup(ctx)
  const bodies = new ImageBodies(options, group)
  let failure: (AttemptResult<ImageReply> & { ok: false }) | undefined
  let abandoned = 0
  const withheld: ImageUsage[] = []
  let next = 0
  let status = 200
  const work = async (): Promise<void> => {
    while (failure === undefined && next < counts.length) {
      const index = next++
      const n = counts[index] as number
      const encoded = await bodies.write(n)
      const result =
        encoded === undefined
          ? STOPPED_CALL
          : await attemptOne(options, { ...request, n }, encoded, group.open(), withheld)
      if (result.ok) {
        replies[index] = result.value
        status = result.status
      } else {
        failure ??= result
        if (result.charge !== undefined) abandoned += n
      }
    }
  }
  try {
    const others = await bodies.acquire(counts[0] as number, Math.min(MAX_PARALLEL, counts.length) - 1)
    await Promise.all(Array.from({ length: 1 + others }, work))
  } catch (error) {
    // A call threw an exception of the gateway's own: the other calls are useless.
    group.stop()
    throw error
  } finally {
    bodies.release()
    group.close()
  }
  const completed = Object.values(replies)
  if (failure !== undefined && completed.length === 0)
    return { result: failure, abandoned, withheld: addUp(withheld) }
  return { result: { ok: true, status, value: join(completed) }, abandoned, withheld: addUp(withheld) }
}

function attemptOne(
  { transport, format, decodeError, target, sender, timeoutMs, now }: ImageAttempt,
  part: ImageRequest,
  encoded: EncodedRequest,
  ctx: WatchedContext,
  withheld: ImageUsage[],
): Promise<AttemptResult<ImageReply>> {
  const granted = { isStream: false, choices: part.n, maxOutputTokens: undefined }
  const read = (answer: WholeAnswer): AttemptResult<ImageReply> => {
    const { status, readHeaders } = answer
    const parsed = parseAnswer(answer, decodeError)
    if (!parsed.ok) return parsed
    const reply = format.decodeReply(parsed.body, target)
    if (reply?.isFiltered === true) {
      if (reply.usage !== undefined) withheld.push(reply.usage)
      return {
        ok: false,
        error: { kind: 'content_filter', status, detail: 'the provider filtered the images' },
      }
    }
    // Words alone are an answer only to who may get words.
    const isAnswer = reply?.isText !== true || wantsText(part)
    if (reply !== undefined && isAnswer) {
      const isKept = part.google !== undefined && target.provider.images?.format === 'google-images'
      return { ok: true, status, value: isKept ? { ...reply, received: parsed.body } : reply }
    }
    if (reportsError(parsed.body)) {
      return { ok: false, error: decodeError(status, readHeaders(), toErrorText(answer.bytes)) }
    }
    return unreadable(answer, 'the answer has no image')
  }
  const authorization = { ctx, target, now, grant: toGrant(sender, target, granted) }
  return callWritten(encoded, authorization, request =>
    attemptWhole({ ctx, transport, request, timeoutMs }, read),
  )
}

function wantsText({ google }: ImageRequest): boolean {
  const kinds = google?.config.responseModalities
  return Array.isArray(kinds) && kinds.includes('TEXT')
}

function join(replies: readonly ImageReply[]): ImageReply {
  const [first] = replies
  if (replies.length === 1 && first !== undefined) return first
  const costs = replies.map(({ costNanoUsd }) => costNanoUsd)
  const cost = costs.every(cost => cost !== undefined)
    ? costs.reduce((sum, cost) => sum + cost, 0)
    : undefined
  return {
    images: replies.flatMap(({ images }) => images),
    usage: addUp(replies.map(({ usage }) => usage)),
    ...(first?.commonFields === undefined ? {} : { commonFields: first.commonFields }),
    ...(cost === undefined ? {} : { costNanoUsd: cost }),
  }
}

/** Adds usages up. The total is unknown if one call reported none, or if there is no call. */
function addUp(usages: readonly (ImageUsage | undefined)[]): ImageUsage | undefined {
  const known = usages.filter(usage => usage !== undefined)
  if (known.length < usages.length || known.length === 0) return undefined
  const sum = (name: keyof ImageUsage): number => known.reduce((total, usage) => total + usage[name], 0)
  return {
    textInput: sum('textInput'),
    textCacheRead: sum('textCacheRead'),
    imageInput: sum('imageInput'),
    imageCacheRead: sum('imageCacheRead'),
    textOutput: sum('textOutput'),
    imageOutput: sum('imageOutput'),
  }
}
