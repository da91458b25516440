import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ChatReply, ReplyMessage, ReplyPart } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { PartOrder } from '../../shared/answers/part-order.ts'
import {
  encodeInput,
  findRefusal,
  toRedactedDetail,
  toThinkingDetail,
} from '../../shared/claude/claude-thinking.ts'
import { ReasoningInIds } from '../../shared/reasoning/reasoning-carrier.ts'
import { withHosted } from '../../shared/tools/hosted-tools.ts'
import { findStopSequence, toFinishReason } from '../wire/stop-reason.ts'
import { decodeHosted, decodeUsage, isSearchResult } from './decode-usage.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

/** Returns a `message` as a canonical reply; any other body, such as an error, has no choices. */
export function decodeReply(body: JsonObject, target: Target): ChatReply {
  const reported = toObject(body.usage)
  const found = toObjects(body.content).filter(isSearchResult).length
  const usage = withHosted(decodeUsage(reported), decodeHosted(reported, found, target))
  if (!Array.isArray(body.content)) return { choices: [], usage }
  const state = new ReplyState()
  for (const [index, block] of toObjects(body.content).entries()) {
    BLOCKS.get(toText(block.type) ?? '')?.(state, block, index)
  }
  const finishReason = toFinishReason(body.stop_reason, state.toolCalls.length > 0)
  const message = state.toMessage()
  const refusal = findRefusal(body)
  if (refusal !== undefined) message.refusal = refusal
  const { parts } = state
  const stopSequence = findStopSequence(body)
  return {
    choices: [
      {
        index: 0,
        message,
        finishReason: finishReason ?? (state.toolCalls.length > 0 ? 'tool_calls' : 'stop'),
        ...(stopSequence === undefined ? {} : { stopSequence }),
        ...(parts === undefined ? {} : { parts }),
      },
    ],
    usage,
  }
}

class ReplyState {
  text = ''
  /** The input of the first call of the answer tool. A model may call it several times, and say something besides. */
  answer: string | undefined
  thinking = ''
  readonly toolCalls: ToolCall[] = []
  readonly details: ReasoningDetail[] = []
  readonly ids = new ReasoningInIds()
  readonly budget = new CallBudget()
  readonly order = new PartOrder()

  /** undefined: the order is the usual one, or the answer is the input of a call alone. */
  get parts(): readonly ReplyPart[] | undefined {
    return this.answer === undefined ? this.order.parts : undefined
  }

  addThinking(text: string, detail: ReasoningDetail | undefined): void {
    this.thinking += text
    this.order.addReasoning(text, detail)
    this.addDetail(detail)
  }

  private addDetail(detail: ReasoningDetail | undefined): void {
    if (detail === undefined) return
    this.details.push(detail)
    this.ids.add(detail)
  }

  toMessage(): ReplyMessage {
    const content = this.answer ?? this.text
    const message: ReplyMessage = { role: 'assistant', content: content === '' ? null : content }
    if (this.toolCalls.length > 0) message.tool_calls = this.toolCalls
    if (this.thinking !== '') message.reasoning = this.thinking
    if (this.details.length > 0) message.reasoning_details = this.details
    return message
  }
}

type BlockDecoder = (state: ReplyState, block: JsonObject, index: number) => void

/** All other blocks, such as those of tools that the provider runs itself, have no canonical form. */
const BLOCKS: ReadonlyMap<string, BlockDecoder> = new Map(
  Object.entries<BlockDecoder>({
    text: (state, block) => {
      const text = toText(block.text) ?? ''
      state.text += text
      state.order.addText(text)
    },
    thinking: (state, block, index) => {
      const text = toText(block.thinking) ?? ''
      state.addThinking(text, toThinkingDetail(text, toText(block.signature), index))
    },
    redacted_thinking: (state, block, index) =>
      state.addThinking('', toRedactedDetail(toText(block.data), index)),
    tool_use: (state, block) => {
      const name = toText(block.name)
      // A call without a name cannot be carried out.
      if (name === undefined) return
      if (name === STRUCTURED_ANSWER) {
        state.answer ??= encodeInput(block.input)
        return
      }
      state.order.addCall(state.toolCalls.length)
      state.toolCalls.push({
        id: state.ids.pack(toText(block.id) ?? `toolu_${state.toolCalls.length}`, state.budget),
        type: 'function',
        function: { name, arguments: encodeInput(block.input) },
      })
    },
  }),
)
