import type { JsonObject } from '../../../json/json-value.ts'
import { toItemKey, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import type { StreamDecoder, StreamEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import {
  encodeInput,
  findRefusal,
  toRedactedDetail,
  toThinkingDetail,
} from '../../shared/claude/claude-thinking.ts'
import { ReasoningInIds } from '../../shared/reasoning/reasoning-carrier.ts'
import { withHosted } from '../../shared/tools/hosted-tools.ts'
import { findStopSequence, toFinishReason } from '../wire/stop-reason.ts'
import { decodeErrorBody } from './decode-error.ts'
import { decodeReply } from './decode-reply.ts'
import { decodeHosted, decodeUsage, isSearchResult, mergeUsage } from './decode-usage.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

type Events = readonly StreamEvent[]

const NOTHING: Events = []

export function openStream(target: Target): StreamDecoder {
  const state = new StreamState(target)
  return {
    decode(data) {
      const event = parseObject(data)
      if (event === undefined) {
        const detail = `an event of the stream is not a JSON object: ${data.slice(0, 200)}`
        return [{ type: 'error', error: { kind: 'interrupted', detail } }]
      }
      return EVENTS.get(toText(event.type) ?? '')?.(state, event) ?? NOTHING
    },
    partialUsage: () => state.toUsage(),
    get unsent() {
      return state.unsent
    },
  }
}

/** A content block that has begun. */
interface OpenBlock {
  readonly type: string
  /** The data of redacted thinking. */
  readonly data: string | undefined
  /** The whole input of a call as it stands at the block's start, as JSON. */
  readonly input: string
  readonly index: number
  /** The number of the call among all calls, as callers count them; -1: the block is not a call of the caller's tools. */
  readonly call: number
  hasArguments: boolean
  readonly thinking: KeptText
  readonly signature: KeptText
}

/** What an open block takes besides its texts, in bytes. */
const BLOCK_BYTES = 400

class StreamState {
  readonly #target: Target
  usage: JsonObject = {}
  /** Results of searches that the provider ran. */
  searches = 0
  calls = 0
  /** True once the current message has a call; a stream may have several messages. */
  hasCalls = false
  /** True once the current message has a call of the answer tool. */
  private isAnswered = false
  readonly ids = new ReasoningInIds()
  readonly budget = new CallBudget()
  private readonly blocks = new Map<number | string | undefined, OpenBlock>()
  /** The bytes of open blocks and signatures. */
  unsent = 0

  constructor(target: Target) {
    this.#target = target
  }

  toUsage(): Usage | undefined {
    const hosted = decodeHosted(this.usage, this.searches, this.#target)
    return withHosted(decodeUsage(this.usage), hosted)
  }

  /** The reply of a server that answers with one whole message. */
  decodeWhole(message: JsonObject): ChatReply {
    return decodeReply(message, this.#target)
  }

  /** undefined: the block is ignored. Behind an answer these are other answers and texts, which would make its JSON invalid. */
  begin(index: number | string | undefined, start: JsonObject): OpenBlock | undefined {
    if (isSearchResult(start)) this.searches++
    const name = toText(start.name)
    const isAnswer = name === STRUCTURED_ANSWER
    if (this.isAnswered && (isAnswer || start.type === 'text')) return undefined
    this.isAnswered ||= isAnswer
    // A call without a name cannot be carried out.
    const isCall = start.type === 'tool_use' && name !== undefined && !isAnswer
    if (isCall) this.hasCalls = true
    const hasInput = isCall || isAnswer
    const block: OpenBlock = {
      type: isAnswer ? 'structured_answer' : (toText(start.type) ?? ''),
      data: toText(start.data),
      input: hasInput ? encodeInput(start.input) : '',
      index: typeof index === 'number' ? index : this.blocks.size,
      call: isCall ? this.calls++ : -1,
      hasArguments: false,
      thinking: new KeptText(toText(start.thinking)),
      signature: new KeptText(toText(start.signature)),
    }
    this.blocks.set(index, block)
    const texts = [block.type, block.data ?? '', block.input, block.signature]
    this.unsent += texts.reduce((sum, text) => sum + text.length, BLOCK_BYTES)
    return block
  }

  find(index: number | string | undefined): OpenBlock | undefined {
    return this.blocks.get(index)
  }

  /** Removes and returns a block, so that it ends only once. */
  close(index: number | string | undefined): OpenBlock | undefined {
    const block = this.blocks.get(index)
    this.blocks.delete(index)
    return block
  }

  /** A second message in a stream, as some proxies send it, numbers its blocks from 0 again. */
  forgetBlocks(): void {
    this.hasCalls = false
    this.isAnswered = false
    this.blocks.clear()
  }
}

type EventHandler = (state: StreamState, event: JsonObject) => Events

/** Handlers by the type of the event. All other events, such as pings, are ignored. */
const EVENTS: ReadonlyMap<string, EventHandler> = new Map(
  Object.entries<EventHandler>({
    message_start: (state, event) => {
      state.forgetBlocks()
      state.usage = mergeUsage(state.usage, toObject(toObject(event.message)?.usage) ?? {})
      return [{ type: 'delta', index: 0, role: 'assistant' }]
    },
    content_block_start: (state, event) => {
      const start = toObject(event.content_block)
      if (start === undefined) return NOTHING
      const block = state.begin(toItemKey(event.index), start)
      if (block === undefined) return NOTHING
      return STARTS.get(block.type)?.(state, block, start) ?? NOTHING
    },
    content_block_delta: (state, event) => {
      const block = state.find(toItemKey(event.index))
      const delta = toObject(event.delta)
      if (block === undefined || delta === undefined) return NOTHING
      return DELTAS.get(toText(delta.type) ?? '')?.(state, block, delta) ?? NOTHING
    },
    content_block_stop: (state, event) => {
      const block = state.close(toItemKey(event.index))
      return block === undefined ? NOTHING : (STOPS.get(block.type)?.(state, block) ?? NOTHING)
    },
    message_delta: (state, event) => {
      const usage = toObject(event.usage)
      if (usage !== undefined) state.usage = mergeUsage(state.usage, usage)
      const events: StreamEvent[] = []
      const delta = toObject(event.delta) ?? {}
      const finishReason = toFinishReason(delta.stop_reason, state.hasCalls)
      const refusal = findRefusal(delta)
      const stopSequence = findStopSequence(delta)
      if (finishReason !== undefined) {
        events.push({
          type: 'delta',
          index: 0,
          ...(refusal === undefined ? {} : { refusal }),
          finishReason,
          ...(stopSequence === undefined ? {} : { stopSequence }),
        })
      }
      // An event that does not count the output leaves only what the first event said of it.
      const decoded = typeof usage?.output_tokens === 'number' ? state.toUsage() : undefined
      if (decoded !== undefined) events.push({ type: 'usage', usage: decoded })
      return events
    },
    message_stop: () => [{ type: 'end' }],
    message: (state, event) => toWholeReply(state.decodeWhole(event)),
    error: (_state, event) => [{ type: 'error', error: decodeErrorBody(undefined, {}, event) }],
  }),
)

/** Some servers answer a request for a stream with one whole message. */
function toWholeReply({ choices, usage }: ChatReply): Events {
  const events: StreamEvent[] = choices.map(choice => {
    const { content, reasoning, reasoning_details: details, tool_calls: calls, refusal } = choice.message
    return {
      type: 'delta',
      index: 0,
      role: 'assistant',
      ...(content === null ? {} : { content }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(details === undefined ? {} : { reasoningDetails: details }),
      ...(refusal === undefined ? {} : { refusal }),
      ...(calls === undefined ? {} : { toolCalls: calls.map((call, index) => ({ index, ...call })) }),
      finishReason: choice.finishReason,
      ...(choice.stopSequence === undefined ? {} : { stopSequence: choice.stopSequence }),
    }
  })
  if (usage !== undefined) events.push({ type: 'usage', usage })
  return [...events, { type: 'end' }]
}

type StartHandler = (state: StreamState, block: OpenBlock, start: JsonObject) => Events
type BlockHandler = (state: StreamState, block: OpenBlock) => Events
type DeltaHandler = (state: StreamState, block: OpenBlock, delta: JsonObject) => Events

const STARTS: ReadonlyMap<string, StartHandler> = new Map(
  Object.entries<StartHandler>({
    text: (_state, _block, start) => toContent(toText(start.text)),
    thinking: (_state, { thinking }) => toReasoning(thinking.toString()),
    tool_use: (state, { call }, start) => {
      if (call < 0) return NOTHING
      return toCall({
        index: call,
        id: state.ids.pack(toText(start.id) ?? `toolu_${call}`, state.budget),
        type: 'function',
        function: { name: toText(start.name) ?? '', arguments: '' },
      })
    },
  }),
)

const DELTAS: ReadonlyMap<string, DeltaHandler> = new Map(
  Object.entries<DeltaHandler>({
    text_delta: (_state, _block, delta) => toContent(toText(delta.text)),
    thinking_delta: (_state, block, delta) => {
      const text = toText(delta.thinking) ?? ''
      block.thinking.add(text)
      return toReasoning(text)
    },
    signature_delta: (state, block, delta) => {
      const text = toText(delta.signature) ?? ''
      block.signature.add(text)
      state.unsent += text.length
      return NOTHING
    },
    input_json_delta: (_state, block, delta) => {
      const json = toText(delta.partial_json)
      if (json === undefined) return NOTHING
      if (block.type === 'structured_answer') {
        block.hasArguments = true
        return toContent(json)
      }
      if (block.call < 0) return NOTHING
      block.hasArguments = true
      return toCall({ index: block.call, function: { arguments: json } })
    },
  }),
)

const STOPS: ReadonlyMap<string, BlockHandler> = new Map(
  Object.entries<BlockHandler>({
    thinking: (state, { thinking, signature, index }) =>
      toDetail(state, toThinkingDetail(thinking.toString(), toText(signature.toString()), index)),
    redacted_thinking: (state, { data, index }) => toDetail(state, toRedactedDetail(data, index)),
    // A call without arguments may have no input delta; some servers send the whole input at the block's start.
    tool_use: (_state, { hasArguments, input, call }) =>
      hasArguments || call < 0 ? NOTHING : toCall({ index: call, function: { arguments: input } }),
    structured_answer: (_state, { hasArguments, input }) => (hasArguments ? NOTHING : toContent(input)),
  }),
)

function toContent(content: string | undefined): Events {
  return content === undefined ? NOTHING : [{ type: 'delta', index: 0, content }]
}

function toReasoning(reasoning: string): Events {
  return reasoning === '' ? NOTHING : [{ type: 'delta', index: 0, reasoning }]
}

function toCall(call: ToolCallDelta): Events {
  return [{ type: 'delta', index: 0, toolCalls: [call] }]
}

function toDetail(state: StreamState, detail: ReasoningDetail | undefined): Events {
  if (detail === undefined) return NOTHING
  state.ids.add(detail)
  return [{ type: 'delta', index: 0, reasoningDetails: [detail] }]
}
