import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { EncodeModelLoad } from '@rideau/llm/formats/shared/server-format'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Target } from '@rideau/llm/upstream/target'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { FREE } from '../billing/bill.ts'
import { sendJson } from '../edge/send.ts'
import { settle } from '../records/settle.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { selectChatTargets } from '../targets/select-chat-targets.ts'
import type { TargetSelection } from '../targets/target-selection.ts'
import type { ReceivedChat } from './chat-call.ts'
import type { ModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'

const NOTHING = { tokens: 0, nanoUsd: 0 }

/**
 * A chat that asks for no answer, only that its model be loaded: refused as the chat itself would be, and answered without a
 * call of the provider, since nothing has to be loaded here.
 */
export class ModelLoadCall implements ModelCall<ChatTarget, ChatTarget> {
  readonly isBilled = false
  readonly endUser: ReceivedChat['endUser']
  readonly #ctx: IdentifiedContext
  readonly #deps: PipelineDeps
  readonly #parsed: ParsedChat
  readonly #source: SourceBody
  readonly #encode: EncodeModelLoad

  constructor(
    ctx: IdentifiedContext,
    { parsed, source, endUser }: ReceivedChat,
    encode: EncodeModelLoad,
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
    return 0
  }

  /** Without the alias, whose targets are compared by their latency: no provider is timed. */
  selectTargets(limits: MeterSet): TargetSelection<ChatTarget> {
    const { targets } = selectChatTargets(this.#parsed, this.#source, this.#ctx, limits, this.#deps)
    return { targets, alias: undefined, isStream: false }
  }

  reserve(
    selection: TargetSelection<ChatTarget>,
    limits: MeterSet,
  ): ReservedCall<ChatTarget> | Promise<ReservedCall<ChatTarget>> {
    const reserved = { selection, estimate: undefined }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts: NOTHING }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  async attempt(_target: Target, resolved: ChatTarget): Promise<AttemptResult<ChatTarget>> {
    return { ok: true, status: 200, value: resolved }
  }

  async answer({ id }: ChatTarget): Promise<void> {
    this.#ctx.decideSuccess()
    await settle(this.#ctx, { status: 200, bill: FREE }, this.#deps)
    const created = Math.floor(this.#ctx.arrivedAt / 1000)
    sendJson(this.#ctx, 200, this.#encode({ id: this.#ctx.requestId, created, model: id }, this.#parsed))
  }
}
