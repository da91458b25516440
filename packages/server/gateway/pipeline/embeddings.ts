import type { EmbeddingReply, EmbeddingRequest } from '@rideau/llm/embeddings/embedding-format'
import type { EmbeddingServer } from '@rideau/llm/embeddings/embedding-server'
import { findStored } from '@rideau/llm/formats/shared/stored-fields'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { estimateMostTokens, estimateTokens } from '@rideau/llm/usage/estimate'
import type { Usage } from '@rideau/llm/usage/usage'
import { writeHead } from '../../http/write-head.ts'
import { attemptEmbeddings } from '../attempts/attempt-embeddings.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { toBill, toLostBill } from '../billing/bill.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import { corsHeaders } from '../edge/cors.ts'
import { toHold } from '../plan/held-amounts.ts'
import { type EmbeddingTarget, planEmbeddings } from '../plan/plan-embeddings.ts'
import { refuseByPlan } from '../plan/refuse-by-plan.ts'
import { refusePassThrough } from '../plan/refuse-pass-through.ts'
import { openRecord } from '../records/open-record.ts'
import { settle } from '../records/settle.ts'
import { type Facts, noteTarget } from '../request/facts.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteModel } from '../request/note-model.ts'
import { readJson } from '../request/read-json.ts'
import type { RequestContext } from '../request/request-context.ts'
import { admit } from './admit.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** For each call; a request may take several. Milliseconds. */
const DEFAULT_TIMEOUT_MS = 300_000
const LOGGED_BYTES = 40 * 1024

/** `POST /v1/embeddings` and the compat surface's: read, plan, admit, call, settle. */
export async function serveEmbeddings(
  ctx: RequestContext,
  facts: Facts,
  server: EmbeddingServer,
  deps: PipelineDeps,
): Promise<void> {
  const { caller, environment } = ctx
  if (caller === undefined || environment === undefined)
    throw new Error('embeddings are served after identification only')
  const { value, source } = await readJson(ctx, server.id, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  facts.requestBody = source.bytes
  noteModel(facts, value.model)
  const { request, endUser } = server.parse(value)
  const naming = nameEndUser(ctx, endUser ?? value.end_user, deps)
  if (naming !== undefined) await naming
  refusePassThrough(caller, environment, { stored: findStored(value), passedOn: server.findPassedOn(value) })
  const limits = deps.meterSets.find(environment, caller, ctx.endUser, ctx.arrivedAt)
  refuseByPlan(limits.plan, ctx.route.need)
  const inputTokens = countInput(request.input, estimateTokens)
  const plan = planEmbeddings({ request, inputTokens, caller, environment, limits }, deps)
  const { targets } = plan
  const isSandbox = targets.every(({ provider }) => provider.sandbox === true)
  // A call that cannot be cut is held at its true maximum, and there is no output.
  const most = countInput(request.input, estimateMostTokens)
  const hold = toHold(targets, { input: most, output: 0, mayWriteCache: false })
  const admitting = admit(ctx, deps, { limits, isSandbox, hold })
  if (admitting !== undefined) await admitting
  noteTarget(facts, targets[0] as EmbeddingTarget)
  openRecord(
    ctx,
    facts,
    limits.hasAmountMeter ? { inputTokens, outputTokens: 0 } : undefined,
    () => inputTokens,
    deps,
  )

  const { reply, target } = await callTargets(ctx, deps, plan, async (called, planned) => {
    noteTarget(facts, planned)
    const { format, decodeError, provider, alias } = planned
    const result = await attemptEmbeddings({
      ctx,
      transport: provider.sandbox === true ? deps.sandbox : deps.http,
      format,
      decodeError,
      target: called,
      request,
      timeoutMs: alias?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      now: deps.now,
    })
    if (result.ok) return { ...result, value: { reply: result.value, target: planned } }
    if (result.charge === undefined) return result
    // There is no output, so it is the same whether an answer came.
    const charge = { ...result.charge, usage: undefined }
    return { ...result, bill: toLostBill(planned.catalogModel, charge, { inputTokens, outputTokens: 0 }) }
  })

  await answer(ctx, deps, server, {
    request,
    reply,
    target,
    inputTokens,
    requestBytes: source.bytes.length,
    facts,
  })
}

interface Answer {
  readonly request: EmbeddingRequest
  readonly reply: EmbeddingReply
  readonly target: EmbeddingTarget
  readonly inputTokens: number
  readonly requestBytes: number
  readonly facts: Facts
}

/** The record first, then the last byte: whoever got an answer is in the journal. */
async function answer(
  ctx: RequestContext,
  deps: PipelineDeps,
  server: EmbeddingServer,
  { request, reply, target, inputTokens, requestBytes, facts }: Answer,
): Promise<void> {
  const bill = toBill(target.catalogModel, toUsage(reply), {
    requestBytes,
    inputTokens,
    deliveredTokens: 0,
  })
  facts.answered = bill
  const answered = {
    model: target.id,
    provider: target.provider.id,
    isSandbox: target.provider.sandbox === true,
  }
  const bytes = server.encodeReply(answered, request, reply, bill)
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

/** Texts are counted by their characters; tokens are what they are. */
function countInput(
  input: readonly string[] | readonly (readonly number[])[],
  count: (text: string) => number,
): number {
  let tokens = 0
  for (const each of input) tokens += typeof each === 'string' ? Math.max(1, count(each)) : each.length
  return tokens
}

function toUsage({ inputTokens, costNanoUsd }: EmbeddingReply): Usage | undefined {
  if (inputTokens === undefined) return undefined
  const usage = { uncachedInput: inputTokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return costNanoUsd === undefined ? usage : { ...usage, reportedCostNanoUsd: costNanoUsd }
}
