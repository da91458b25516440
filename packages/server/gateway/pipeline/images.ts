import type { ImageReply, ImageRequest, ImageUsage } from '@rideau/llm/images/image-format'
import { encodeImages } from '@rideau/llm/images/image-reply'
import type { ImageServer, ParsedImages } from '@rideau/llm/images/image-server'
import type { ImageRoute as ServedImageRoute } from '@rideau/llm/images/served/image-routes'
import type { Target } from '@rideau/llm/upstream/target'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { toSender } from '../../core/access/to-sender.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { attemptImages } from '../attempts/attempt-images.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { type FetchedSources, inlineSources } from '../attempts/inline-sources.ts'
import { toMediaAddresses } from '../attempts/to-grant.ts'
import { addBills } from '../billing/bill.ts'
import {
  toAbandonedImageBill,
  toImageBill,
  toReservedImageAmounts,
  toWithheldImageBill,
} from '../billing/image-amounts.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { noteUser } from '../request/note-user.ts'
import { type ImageRoute, readImageBody, readServedImages } from '../request/read-image-body.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { type ImageTarget, selectImageTargets } from '../targets/select-image-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import { withoutUser } from '../targets/without-user.ts'
import type { ModelCall, ReadModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'
import { sendAnswer } from './send-answer.ts'

/** Timeout of each call in milliseconds. A request may need several. */
const DEFAULT_TIMEOUT_MS = 300_000

/** Serves `POST {openai prefix}/v1/images/generations` and `/edits`. */
export function readImages(route: ImageRoute): ReadModelCall {
  return async (ctx, _pathModel, deps) => {
    const parsed = await readImageBody(ctx, route, deps.bodyTimeoutMs)
    noteUser(ctx.recordFields, parsed.request.user)
    return new ImagesCall(ctx, parsed, deps)
  }
}

/** Serves the image routes of other formats. */
export function readOtherImages({ server, whenQuery }: ServedImageRoute): ReadModelCall {
  return async (ctx, pathModel, deps) => {
    const query = new URLSearchParams(ctx.req.url?.split('?')[1] ?? '')
    const isOther = whenQuery !== undefined && query.get(whenQuery.name) === whenQuery.value
    const effectiveServer = isOther ? whenQuery.server : server
    const parsed = await readServedImages(ctx, effectiveServer, pathModel, deps.bodyTimeoutMs)
    return new ImagesCall(ctx, parsed, deps, effectiveServer)
  }
}

interface AnsweredImages {
  readonly reply: ImageReply
  readonly target: ImageTarget
  /** The bill of calls without an image. */
  readonly lost: Bill | undefined
}

class ImagesCall implements ModelCall<ImageTarget, AnsweredImages> {
  readonly isBilled = true
  readonly endUser: ParsedImages['endUser']
  readonly findings: ParsedImages['findings']
  readonly files: ParsedImages['files']
  readonly #ctx: IdentifiedContext
  readonly #request: ImageRequest
  readonly #deps: PipelineDeps
  /** undefined: OpenAI's format. */
  readonly #server: ImageServer | undefined
  readonly #fetched: FetchedSources = new Map()
  /** Estimated input tokens, at most what is reserved. */
  #inputTokens = 0

  constructor(
    ctx: IdentifiedContext,
    { request, endUser, findings, files }: ParsedImages,
    deps: PipelineDeps,
    server?: ImageServer,
  ) {
    this.#server = server
    this.endUser = endUser
    this.findings = findings
    this.files = files
    this.#ctx = ctx
    this.#request = request
    this.#deps = deps
  }

  /** One path may serve answers of several forms. */
  get variant(): string | undefined {
    return this.#server?.contentType
  }

  countInput(): number {
    return this.#inputTokens
  }

  selectTargets(limits: MeterSet): TargetSelection<ImageTarget> {
    const { caller, environment, route } = this.#ctx
    const { mount } = route
    return selectImageTargets({ request: this.#request, caller, environment, limits, mount }, this.#deps)
  }

  /** Reserves the maximum, since the answer cannot be cut. */
  reserve(
    selection: TargetSelection<ImageTarget>,
    limits: MeterSet,
  ): ReservedCall<ImageTarget> | Promise<ReservedCall<ImageTarget>> {
    const amounts = toReservedImageAmounts(this.#request, selection.targets)
    const inputTokens = Math.min(amounts.tokens, estimateTokens(this.#request.prompt))
    this.#inputTokens = inputTokens
    const estimate = limits.hasAmountMeter
      ? { inputTokens, outputTokens: amounts.tokens - inputTokens }
      : undefined
    const reserved = { selection, estimate }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(target: Target, resolved: ImageTarget): Promise<AttemptResult<AnsweredImages>> {
    const { format, decodeError, provider, alias, dropped } = resolved
    const original = withoutUser(this.#request, this.#ctx)
    const sender = toSender(this.#ctx.caller, this.#ctx.environment)
    const request =
      format.inlinesImages === true || toMediaAddresses(sender, target) === 'none'
        ? await inlineSources(this.#ctx, original, this.#fetched, this.#deps)
        : original
    const { result, abandoned, withheld } = await attemptImages({
      ctx: this.#ctx,
      transport: provider.sandbox === true ? this.#deps.sandbox : this.#deps.http,
      format,
      decodeError,
      target,
      sender,
      request,
      dropped,
      timeoutMs: alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      now: this.#deps.now,
    })
    const lost = toLostBill(original, resolved, abandoned, withheld)
    if (result.ok) return { ...result, value: { reply: result.value, target: resolved, lost } }
    return lost === undefined ? result : { ...result, bill: lost }
  }

  async answer({ reply, target, lost }: AnsweredImages): Promise<void> {
    const ownBill = toImageBill(this.#request, target, reply)
    const bill = lost === undefined ? ownBill : addBills(lost, ownBill)
    this.#ctx.recordFields.answered = bill
    const server = this.#server
    const body =
      server?.encodeReply(reply, target.id, this.#ctx.requestId) ??
      encodeImages(reply, Math.floor(this.#ctx.arrivedAt / 1000))
    const contentType = server?.contentType ?? 'application/json'
    const headers = answerHeaders(this.#ctx, target, contentType, this.#deps)
    const outcome = { status: 200, bill, finishReason: 'stop' }
    await sendAnswer(this.#ctx, body, { headers, outcome }, this.#deps)
  }
}

function toLostBill(
  request: ImageRequest,
  target: ImageTarget,
  abandoned: number,
  withheld: ImageUsage | undefined,
): Bill | undefined {
  const counted = withheld === undefined ? undefined : toWithheldImageBill(request, target, withheld)
  if (abandoned === 0) return counted
  return addBills(counted, toAbandonedImageBill(request, target, abandoned))
}
