import type { ClientFormat, TokenCounter } from '@rideau/llm/formats/shared/client-format'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { CountFormat } from '@rideau/llm/formats/shared/server-format'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Target } from '@rideau/llm/upstream/target'
import { toSender } from '../../core/access/to-sender.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { attemptPlain } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { callWritten } from '../attempts/authorize-written.ts'
import { toGrant } from '../attempts/to-grant.ts'
import { FREE } from '../billing/bill.ts'
import { countRequest } from '../billing/input-counts.ts'
import { admittedHeaders } from '../edge/answer-headers.ts'
import { sendJson } from '../edge/send.ts'
import { settle } from '../records/settle.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { toLikelyInput } from '../targets/chat-amounts.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { listUnsentFields } from '../targets/list-dropped-fields.ts'
import { selectChatTargets } from '../targets/select-chat-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import type { ReceivedChat } from './chat-call.ts'
import type { ModelCall, ReadModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { receiveChat } from './read-chat.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'

const TIMEOUT_MS = 30_000

/** Counting is free, but a caller whose limits are used up must not reach a provider. */
const SMALLEST = { tokens: 1, nanoUsd: 1 }

/** Serves the routes that count a request's input tokens. */
export function readTokenCount(count: CountFormat): ReadModelCall {
  return async (ctx, pathModel, deps) =>
    new TokenCount(ctx, await receiveChat(ctx, count, pathModel, deps), count.encode, deps)
}

/** Answers with the provider's own count if it has a route for that, else with an estimate. Nothing is charged. */
class TokenCount implements ModelCall<ChatTarget, number> {
  readonly isBilled = false
  readonly endUser: ReceivedChat['endUser']
  readonly #ctx: IdentifiedContext
  readonly #deps: PipelineDeps
  readonly #parsed: ParsedChat
  readonly #source: SourceBody
  readonly #encode: CountFormat['encode']

  constructor(
    ctx: IdentifiedContext,
    { parsed, source, endUser }: ReceivedChat,
    encode: CountFormat['encode'],
    deps: PipelineDeps,
  ) {
    this.#ctx = ctx
    this.#deps = deps
    this.#parsed = parsed
    this.#source = source
    this.endUser = endUser
    this.#encode = encode
  }

  get findings(): ParsedChat['findings'] {
    return this.#parsed.findings
  }

  countInput(): number {
    const { likely, unread } = countRequest(this.#parsed.request, this.#source, this.#deps.random)
    return toLikelyInput(likely, unread, [])
  }

  selectTargets(limits: MeterSet): TargetSelection<ChatTarget> {
    return selectChatTargets(this.#parsed, this.#source, this.#ctx, limits, this.#deps)
  }

  reserve(
    selection: TargetSelection<ChatTarget>,
    limits: MeterSet,
  ): ReservedCall<ChatTarget> | Promise<ReservedCall<ChatTarget>> {
    const reserved = { selection, estimate: undefined }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts: SMALLEST }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(target: Target, resolved: ChatTarget): Promise<AttemptResult<number>> {
    const { format, request, hosted } = resolved
    const { tokenCounter } = format
    const isCounted = target.provider.sandbox !== true && tokenCounter?.canCount(target) === true
    if (tokenCounter === undefined || !isCounted) return { ok: true, status: 200, value: this.countInput() }
    const encoded = tokenCounter.encodeRequest(request, target, this.#source, listUnsentFields(resolved))
    const { caller, environment } = this.#ctx
    const grant = toGrant(toSender(caller, environment), target, {
      isStream: false,
      choices: 1,
      maxOutputTokens: undefined,
      hostedTools: hosted?.types,
    })
    const [ctx, { now, http: transport }] = [this.#ctx, this.#deps]
    const call = { ctx, transport, format: toCounting(format, tokenCounter), target, timeoutMs: TIMEOUT_MS }
    const result = await callWritten(encoded, { ctx, target, now, grant }, request =>
      attemptPlain({ ...call, request }),
    )
    if (result.ok) return { ...result, value: tokenCounter.decodeReply(result.value.body) ?? 0 }
    if (tokenCounter.isLacking?.(result.error) !== true) return result
    return { ok: true, status: 200, value: this.countInput() }
  }

  async answer(tokens: number): Promise<void> {
    this.#ctx.decideSuccess()
    await settle(this.#ctx, { status: 200, bill: FREE }, this.#deps)
    sendJson(this.#ctx, 200, this.#encode(tokens), admittedHeaders(this.#ctx, this.#deps))
  }
}

/** Returns a format that takes a reply with a count for a complete answer. */
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
