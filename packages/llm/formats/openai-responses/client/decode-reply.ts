import type { JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import { MAX_DETAILS, type ReasoningDetail, tooManyDetails } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { withReportedCost } from '../../../usage/reported-cost.ts'
import { makeToolCallId, toReplyId } from '../../shared/answers/decode-message.ts'
import { PartOrder } from '../../shared/answers/part-order.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { withHosted } from '../../shared/tools/hosted-tools.ts'
import {
  decodeCall,
  decodeFinish,
  decodeMessage,
  decodeReasoning,
  decodeReasoningDetails,
  PARAGRAPH,
  withIndexes,
} from '../wire/decode-items.ts'
import { decodeUsage } from './decode-usage.ts'
import { HostedUses } from './hosted-uses.ts'

/** A `response` object as the canonical reply. A failed one has no choices. */
export function decodeReply(body: JsonObject, target: Target): ChatReply {
  const hosted = new HostedUses(target).price(body)
  const usage = withReportedCost(withHosted(decodeUsage(body), hosted), body.usage, target)
  if (body.status === 'failed' || body.status === 'cancelled' || !Array.isArray(body.output)) {
    return { choices: [], usage }
  }
  const gathered = new MessageCollector(toReplyId(body.id), target.provider.id)
  for (const item of toObjects(body.output)) gathered.add(item)
  const message = gathered.toMessage()
  const finishReason = decodeFinish(body, message.tool_calls !== undefined)
  const { parts } = gathered.order
  return { choices: [{ index: 0, message, finishReason, ...(parts === undefined ? {} : { parts }) }], usage }
}

/** Collects the items of one output as one message. */
class MessageCollector {
  readonly #replyId: string
  readonly #providerId: string
  #content = ''
  #hasMessage = false
  #refusal = ''
  #reasoning = ''
  readonly #details: ReasoningDetail[] = []
  /** The reasoning since the last call, which goes into the id of the next call. */
  #pending: ReasoningDetail[] = []
  readonly #calls: ToolCall[] = []
  readonly #budget = new CallBudget()
  readonly order = new PartOrder()

  constructor(replyId: string, providerId: string) {
    this.#replyId = replyId
    this.#providerId = providerId
  }

  add(item: JsonObject): void {
    if (item.type === 'message') {
      const { content, refusal } = decodeMessage(item)
      this.#hasMessage ||= content !== ''
      this.#content += content
      this.order.addText(content)
      this.#refusal += refusal
    } else if (item.type === 'reasoning') {
      const text = decodeReasoning(item)
      if (text !== '') this.#reasoning += this.#reasoning === '' ? text : PARAGRAPH + text
      this.order.addReasoning(text, undefined)
      const details = decodeReasoningDetails(item, this.#providerId)
      if (this.#details.length + details.length > MAX_DETAILS) throw tooManyDetails()
      this.#details.push(...withIndexes(details, this.#details.length))
      this.#pending.push(...details)
    } else this.#addCall(item)
  }

  #addCall(item: JsonObject): void {
    const call = decodeCall(item)
    if (call === undefined) return
    const id = call.id ?? makeToolCallId(this.#replyId, 0, this.#calls.length, call.name)
    this.order.addCall(this.#calls.length)
    this.#calls.push({
      id: packToolCallId(id, this.#budget.take(this.#pending)),
      type: 'function',
      function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
    })
    this.#pending = []
  }

  toMessage(): ReplyMessage {
    const message: ReplyMessage = { role: 'assistant', content: this.#hasMessage ? this.#content : null }
    if (this.#calls.length > 0) message.tool_calls = this.#calls
    if (this.#reasoning !== '') message.reasoning = this.#reasoning
    if (this.#details.length > 0) message.reasoning_details = this.#details
    if (this.#refusal !== '') message.refusal = this.#refusal
    return message
  }
}
