import type { ClientFormat, TokenCounter } from '@rideau/llm/formats/shared/client-format'
import type { CountFormat } from '@rideau/llm/formats/shared/server-format'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import type { Target } from '@rideau/llm/upstream/target'
import { attemptPlain } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { FREE } from '../billing/bill.ts'
import { countInput } from '../billing/count-input.ts'
import { sendJson } from '../edge/send.ts'
import type { PlannedTarget } from '../plan/chat-plan.ts'
import { planChat } from '../plan/plan-chat.ts'
import { refusePassThrough } from '../plan/refuse-pass-through.ts'
import { withFormatHeaders } from '../plan/with-format-headers.ts'
import { settle } from '../records/settle.ts'
import { checkInnerTexts } from '../request/check-inner-texts.ts'
import type { Facts } from '../request/facts.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteModel } from '../request/note-model.ts'
import { readJson } from '../request/read-json.ts'
import type { RequestContext } from '../request/request-context.ts'
import { admit } from './admit.ts'
import { findLimits } from './find-limits.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

const TIMEOUT_MS = 30_000

/** It costs nothing, but whoever has nothing left reaches no provider. */
const SMALLEST = { tokens: 1, nanoUsd: 1 }

/**
 * `POST {anthropic prefix}/v1/messages/count_tokens` and Gemini's `:countTokens`: the provider's own count where it gives
 * one, else our estimate. Nothing is charged.
 */
export async function serveCountTokens(
  ctx: RequestContext,
  facts: Facts,
  { server, parse, encode }: CountFormat,
  rest: string,
  deps: PipelineDeps,
): Promise<void> {
  const { caller, environment } = ctx
  if (caller === undefined || environment === undefined)
    throw new Error('tokens are counted after identification only')
  const body = await readJson(ctx, server.id, CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  facts.requestBody = body.source.bytes
  noteModel(facts, rest === '' ? body.value.model : rest)
  const isEndUser = caller.kind === 'client_token'
  const call = parse(body.value, { source: body.source, pathModel: rest, isEndUser })
  const checking = checkInnerTexts(ctx, call.request.messages)
  if (checking !== undefined) await checking
  const naming = nameEndUser(ctx, call.endUser, deps)
  if (naming !== undefined) await naming
  refusePassThrough(caller, environment, call.findings)
  const sent = withFormatHeaders(ctx, body, server, caller, environment)
  const limits = findLimits(ctx, deps)
  const plan = planChat(call, sent.source, caller, environment, limits, deps)
  const isSandbox = plan.targets.every(({ provider }) => provider.sandbox === true)
  const admitting = admit(ctx, deps, { limits, isSandbox, hold: SMALLEST })
  if (admitting !== undefined) await admitting
  const tokens = await callTargets(ctx, deps, plan, (target, planned) => {
    facts.provider = planned.provider.id
    facts.model = planned.id
    facts.isSandbox = planned.provider.sandbox === true
    return countAt(ctx, target, planned, sent.source, deps)
  })
  await settle(ctx, facts, { status: 200, bill: FREE }, deps)
  sendJson(ctx, 200, encode(tokens))
}

async function countAt(
  ctx: RequestContext,
  target: Target,
  { format, request }: PlannedTarget,
  source: SourceBody,
  deps: PipelineDeps,
): Promise<AttemptResult<number>> {
  // A cloud that takes the format in an envelope of its own has no such route in it.
  const tokenCounter = target.provider.messages === undefined ? format.tokenCounter : undefined
  if (tokenCounter === undefined) return { ok: true, status: 200, value: countInput(request) }
  const counting = tokenCounter.encodeRequest(request, target, source)
  authorizeRequest(counting, target, deps.now())
  const result = await attemptPlain({
    ctx,
    transport: deps.http,
    format: toCounting(format, tokenCounter),
    target,
    request: counting,
    timeoutMs: TIMEOUT_MS,
  })
  return result.ok ? { ...result, value: tokenCounter.decodeReply(result.value.body) ?? 0 } : result
}

/** An answer is whole where it has a count, as another one where it has a choice. */
function toCounting(format: ClientFormat, counter: TokenCounter): ClientFormat {
  const counted = {
    index: 0,
    message: { role: 'assistant' as const, content: null },
    finishReason: 'stop' as const,
  }
  return {
    ...format,
    decodeReply: body => ({
      choices: counter.decodeReply(body) === undefined ? [] : [counted],
      usage: undefined,
    }),
  }
}
