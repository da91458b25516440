import { findStored } from '@rideau/llm/formats/shared/stored-fields'
import type { ImageReply, ImageRequest } from '@rideau/llm/images/image-format'
import { encodeImages } from '@rideau/llm/images/image-reply'
import { findPassedOn } from '@rideau/llm/images/image-request'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { writeHead } from '../../http/write-head.ts'
import { attemptImages } from '../attempts/attempt-images.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { type FetchedSources, inlineSources } from '../attempts/inline-sources.ts'
import { addBills } from '../billing/bill.ts'
import { toImageBill, toImageHold, toLostImageBill } from '../billing/image-amounts.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { corsHeaders } from '../edge/cors.ts'
import { type ImageTarget, planImages } from '../plan/plan-images.ts'
import { refuseByPlan } from '../plan/refuse-by-plan.ts'
import { refusePassThrough } from '../plan/refuse-pass-through.ts'
import { openRecord } from '../records/open-record.ts'
import { settle } from '../records/settle.ts'
import { type Facts, noteTarget } from '../request/facts.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteModel } from '../request/note-model.ts'
import { type ImageRoute, readImageBody } from '../request/read-image-body.ts'
import type { RequestContext } from '../request/request-context.ts'
import { admit } from './admit.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** For each call; a request may take several. Milliseconds. */
const DEFAULT_TIMEOUT_MS = 300_000
const LOGGED_BYTES = 40 * 1024

/** `POST {prefix}/v1/images/generations` and `/edits`: read, plan, admit, call, settle. */
export async function serveImages(
  ctx: RequestContext,
  facts: Facts,
  route: ImageRoute,
  deps: PipelineDeps,
): Promise<void> {
  const { caller, environment } = ctx
  if (caller === undefined || environment === undefined)
    throw new Error('images are served after identification only')
  const body = await readImageBody(ctx, facts, route, deps)
  const { model, end_user: named } = body.value
  noteModel(facts, model)
  const request = body.parse()
  const naming = nameEndUser(ctx, named, deps)
  if (naming !== undefined) await naming
  refusePassThrough(caller, environment, {
    stored: findStored(body.value),
    passedOn: findPassedOn(body.value),
  })
  const limits = deps.meterSets.find(environment, caller, ctx.endUser, ctx.arrivedAt)
  refuseByPlan(limits.plan, ctx.route.need)
  const plan = planImages({ request, caller, environment, limits }, deps)
  const { targets } = plan
  const isSandbox = targets.every(({ provider }) => provider.sandbox === true)
  // A call that cannot be cut is held at its true maximum.
  const hold = toImageHold(request, targets)
  const admitting = admit(ctx, deps, { limits, isSandbox, hold })
  if (admitting !== undefined) await admitting
  noteTarget(facts, targets[0] as ImageTarget)
  const inputTokens = Math.min(hold.tokens, estimateTokens(request.prompt))
  const estimate = { inputTokens, outputTokens: hold.tokens - inputTokens }
  openRecord(ctx, facts, limits.hasAmountMeter ? estimate : undefined, () => inputTokens, deps)

  const fetched: FetchedSources = new Map()
  const { reply, target, lost } = await callTargets(ctx, deps, plan, async (called, planned) => {
    noteTarget(facts, planned)
    const { format, decodeError, provider, alias, dropped } = planned
    const whole = format.inlinesImages === true ? await inlineSources(ctx, request, fetched, deps) : request
    const { result, lost } = await attemptImages({
      ctx,
      transport: provider.sandbox === true ? deps.sandbox : deps.http,
      format,
      decodeError,
      target: called,
      request: whole,
      dropped,
      timeoutMs: alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      now: deps.now,
    })
    if (result.ok) return { ...result, value: { reply: result.value, target: planned, lost } }
    return lost === 0 ? result : { ...result, bill: toLostImageBill(request, planned, lost) }
  })
  await answer(ctx, deps, facts, { request, reply, target, lost })
}

interface Answer {
  readonly request: ImageRequest
  readonly reply: ImageReply
  readonly target: ImageTarget
  /** Images that were asked for besides, of calls that got no answer. */
  readonly lost: number
}

/** The record first, then the last byte: whoever got an answer is in the journal. */
async function answer(
  ctx: RequestContext,
  deps: PipelineDeps,
  facts: Facts,
  answered: Answer,
): Promise<void> {
  const { request, reply, target, lost } = answered
  const made = toImageBill(request, target, reply)
  const bill = lost === 0 ? made : addBills(toLostImageBill(request, target, lost), made)
  facts.answered = bill
  const bytes = encodeImages(reply, Math.floor(ctx.arrivedAt / 1000))
  ctx.firstByteAt = performance.now()
  const responseBody =
    ctx.environment?.logCapture === 'full'
      ? bytes.toString('utf8', 0, Math.min(bytes.length, LOGGED_BYTES))
      : undefined
  await settle(ctx, facts, { status: 200, bill, finishReason: 'stop', responseBody }, deps)
  const headers = answerHeaders(ctx, target, 'application/json', deps)
  headers.push('Content-Length', String(bytes.length), ...corsHeaders(ctx))
  writeHead(ctx.res, 200, headers)
  ctx.res.end(bytes)
}
