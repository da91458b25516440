import { encodeAwsEvent } from '@rideau/llm/frames/aws-event-frame'
import type { JsonObject } from '@rideau/llm/json/json-value'
import {
  alternate,
  argumentsOf,
  callsOf,
  type FramePart,
  frame,
  inputOf,
  type ModelAnswer,
  type ModelCall,
  type ProviderAnswer,
  type ProviderFrame,
  SSE,
  TOKENS,
  textOf,
  toData,
  toGoogleData,
  toTyped,
} from './provider-answer.ts'

function toChat(answer: ModelAnswer): ProviderAnswer {
  const usage = {
    prompt_tokens: TOKENS.input,
    completion_tokens: TOKENS.output,
    total_tokens: TOKENS.input + TOKENS.output,
  }
  const finish = answer.finish === 'refusal' ? 'content_filter' : answer.finish
  const calls = callsOf(answer)
  const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm' }
  const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })
  const toCall = ({ id, name }: ModelCall, text: string): JsonObject => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  })
  const message = {
    role: 'assistant',
    content: textOf(answer),
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(call => toCall(call, argumentsOf(call))) }),
  }
  return {
    contentType: SSE,
    plain: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage,
    },
    frames: [
      toData([], chunk({ role: 'assistant', content: '' })),
      ...answer.texts.map(content => toData(['text'], chunk({ content }))),
      ...calls.map((call, index) =>
        toData(['call'], chunk({ tool_calls: [{ index, ...toCall(call, '') }] })),
      ),
      ...alternate(calls, (text, _, index) =>
        toData(['arguments'], chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
      ),
      toData(['finish'], chunk({}, finish)),
      toData(['usage'], { ...head, object: 'chat.completion.chunk', choices: [], usage }),
      frame(['end'], 'data: [DONE]\n\n'),
    ],
  }
}

function toResponses(answer: ModelAnswer): ProviderAnswer {
  const usage = {
    input_tokens: TOKENS.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: TOKENS.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: TOKENS.input + TOKENS.output,
  }
  const isCut = answer.finish === 'length'
  const text = textOf(answer)
  const part: JsonObject =
    answer.finish === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [], logprobs: [] }
  const status = isCut ? 'incomplete' : 'completed'
  const message = { type: 'message', id: 'msg_1', status, role: 'assistant', content: [part] }
  const items = callsOf(answer).map((call, n) => ({
    type: 'function_call',
    id: `fc_${n}`,
    call_id: call.id,
    name: call.name,
    arguments: argumentsOf(call),
    status: 'completed',
  }))
  const response = (fields: JsonObject): JsonObject => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    error: null,
    incomplete_details: null,
    model: 'm',
    ...fields,
  })
  const whole = response({
    status,
    output: [message, ...items],
    usage,
    ...(isCut ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
  })
  const deltaType = answer.finish === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta'
  let number = 0
  const event = (parts: readonly FramePart[], type: string, fields: JsonObject): ProviderFrame =>
    toTyped(parts, { type, sequence_number: number++, ...fields })
  return {
    contentType: SSE,
    plain: whole,
    frames: [
      event([], 'response.created', {
        response: response({ status: 'in_progress', output: [], usage: null }),
      }),
      event([], 'response.output_item.added', {
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      }),
      ...answer.texts.map(delta =>
        event(['text'], deltaType, {
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta,
          logprobs: [],
        }),
      ),
      event([], 'response.output_item.done', { output_index: 0, item: message }),
      ...items.map((item, n) =>
        event(['call'], 'response.output_item.added', {
          output_index: n + 1,
          item: { ...item, arguments: '', status: 'in_progress' },
        }),
      ),
      ...alternate(callsOf(answer), (delta, _, n) =>
        event(['arguments'], 'response.function_call_arguments.delta', {
          item_id: `fc_${n}`,
          output_index: n + 1,
          delta,
        }),
      ),
      ...items.map((item, n) => event([], 'response.output_item.done', { output_index: n + 1, item })),
      event(['finish', 'usage', 'end'], `response.${status}`, { response: whole }),
    ],
  }
}

const ANTHROPIC_STOPS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
} as const

function toAnthropic(answer: ModelAnswer): ProviderAnswer {
  const stop = { stop_reason: ANTHROPIC_STOPS[answer.finish], stop_sequence: null }
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
  const usage = { input_tokens: TOKENS.input, output_tokens: TOKENS.output }
  const toUse = (call: ModelCall, input: JsonObject): JsonObject => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input,
  })
  const calls = callsOf(answer)
  const delta = (parts: readonly FramePart[], index: number, body: JsonObject): ProviderFrame =>
    toTyped(parts, { type: 'content_block_delta', index, delta: body })
  return {
    contentType: SSE,
    plain: {
      ...head,
      content: [{ type: 'text', text: textOf(answer) }, ...calls.map(call => toUse(call, inputOf(call)))],
      ...stop,
      usage,
    },
    frames: [
      toTyped([], {
        type: 'message_start',
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      toTyped([], { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...answer.texts.map(text => delta(['text'], 0, { type: 'text_delta', text })),
      toTyped([], { type: 'content_block_stop', index: 0 }),
      ...calls.flatMap((call, n) => [
        toTyped(['call'], { type: 'content_block_start', index: n + 1, content_block: toUse(call, {}) }),
        ...call.pieces.map(text =>
          delta(['arguments'], n + 1, { type: 'input_json_delta', partial_json: text }),
        ),
        toTyped([], { type: 'content_block_stop', index: n + 1 }),
      ]),
      toTyped(['finish', 'usage'], {
        type: 'message_delta',
        delta: stop,
        usage: { output_tokens: TOKENS.output },
      }),
      toTyped(['end'], { type: 'message_stop' }),
    ],
  }
}

const GEMINI_STOPS = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const

function toGemini(answer: ModelAnswer): ProviderAnswer {
  const usageMetadata = {
    promptTokenCount: TOKENS.input,
    candidatesTokenCount: TOKENS.output,
    totalTokenCount: TOKENS.input + TOKENS.output,
  }
  const finishReason = GEMINI_STOPS[answer.finish]
  const chunk = (parts: readonly JsonObject[], fields: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts: [...parts] }, index: 0, ...fields }],
    responseId: 'r',
  })
  const calls = callsOf(answer).map(call => ({
    functionCall: { id: call.id, name: call.name, args: inputOf(call) },
  }))
  return {
    contentType: SSE,
    plain: { ...chunk([{ text: textOf(answer) }, ...calls], { finishReason }), usageMetadata },
    frames: [
      ...answer.texts.map(text => toGoogleData(['text'], chunk([{ text }]))),
      ...calls.map(call => toGoogleData(['call', 'arguments'], chunk([call]))),
      toGoogleData(['finish'], chunk([{ text: '' }], { finishReason })),
      toGoogleData(['usage'], { responseId: 'r', usageMetadata }),
    ],
  }
}

const CONVERSE_STOPS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'content_filtered',
} as const

function toConverse(answer: ModelAnswer): ProviderAnswer {
  const stopReason = CONVERSE_STOPS[answer.finish]
  const usage = {
    inputTokens: TOKENS.input,
    outputTokens: TOKENS.output,
    totalTokens: TOKENS.input + TOKENS.output,
  }
  const event = (parts: readonly FramePart[], type: string, body: JsonObject): ProviderFrame =>
    frame(parts, encodeAwsEvent(type, body))
  const calls = callsOf(answer)
  const uses = calls.map(call => ({
    toolUse: { toolUseId: call.id, name: call.name, input: inputOf(call) },
  }))
  return {
    contentType: 'application/vnd.amazon.eventstream',
    plain: {
      output: { message: { role: 'assistant', content: [{ text: textOf(answer) }, ...uses] } },
      stopReason,
      usage,
    },
    frames: [
      event([], 'messageStart', { role: 'assistant' }),
      ...answer.texts.map(text =>
        event(['text'], 'contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
      ),
      event([], 'contentBlockStop', { contentBlockIndex: 0 }),
      ...calls.flatMap(({ id: toolUseId, name, pieces }, n) => [
        event(['call'], 'contentBlockStart', {
          contentBlockIndex: n + 1,
          start: { toolUse: { toolUseId, name } },
        }),
        ...pieces.map(input =>
          event(['arguments'], 'contentBlockDelta', {
            contentBlockIndex: n + 1,
            delta: { toolUse: { input } },
          }),
        ),
        event([], 'contentBlockStop', { contentBlockIndex: n + 1 }),
      ]),
      event(['finish'], 'messageStop', { stopReason }),
      event(['usage', 'end'], 'metadata', { usage, metrics: { latencyMs: 3 } }),
    ],
  }
}

const COHERE_STOPS = {
  stop: 'COMPLETE',
  tool_calls: 'TOOL_CALL',
  length: 'MAX_TOKENS',
  refusal: 'ERROR_TOXIC',
} as const

function toCohere(answer: ModelAnswer): ProviderAnswer {
  const end = {
    finish_reason: COHERE_STOPS[answer.finish],
    usage: { tokens: { input_tokens: TOKENS.input, output_tokens: TOKENS.output } },
  }
  const calls = callsOf(answer)
  const toCall = ({ id, name }: ModelCall, text: string): JsonObject => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  })
  const event = (parts: readonly FramePart[], type: string, index: number, message: JsonObject) =>
    toTyped(parts, { type, index, delta: { message } })
  return {
    contentType: SSE,
    plain: {
      id: 'c',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: textOf(answer) }],
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(call => toCall(call, argumentsOf(call))) }),
      },
      ...end,
    },
    frames: [
      toTyped([], { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } }),
      event([], 'content-start', 0, { content: { type: 'text', text: '' } }),
      ...answer.texts.map(text => event(['text'], 'content-delta', 0, { content: { text } })),
      toTyped([], { type: 'content-end', index: 0 }),
      ...calls.flatMap((call, n) => [
        event(['call'], 'tool-call-start', n, { tool_calls: toCall(call, '') }),
        ...call.pieces.map(text =>
          event(['arguments'], 'tool-call-delta', n, { tool_calls: { function: { arguments: text } } }),
        ),
        toTyped([], { type: 'tool-call-end', index: n }),
      ]),
      toTyped(['finish', 'usage', 'end'], { type: 'message-end', delta: end }),
    ],
  }
}

function toOllama(answer: ModelAnswer): ProviderAnswer {
  const end = {
    done: true,
    done_reason: answer.finish === 'length' ? 'length' : 'stop',
    prompt_eval_count: TOKENS.input,
    eval_count: TOKENS.output,
  }
  const calls = callsOf(answer).map(call => ({ function: { name: call.name, arguments: inputOf(call) } }))
  const line = (parts: readonly FramePart[], message: JsonObject, fields: JsonObject = { done: false }) =>
    frame(
      parts,
      `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message, ...fields })}\n`,
    )
  return {
    contentType: 'application/x-ndjson',
    plain: {
      model: 'm',
      created_at: '2026-01-01T00:00:00Z',
      message: {
        role: 'assistant',
        content: textOf(answer),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      ...end,
    },
    frames: [
      ...answer.texts.map(content => line(['text'], { role: 'assistant', content })),
      ...calls.map(call =>
        line(['call', 'arguments'], { role: 'assistant', content: '', tool_calls: [call] }),
      ),
      line(['finish', 'usage', 'end'], { role: 'assistant', content: '' }, end),
    ],
  }
}

/** An answer as a provider of each format gives it, by the names of FORMAT_TARGETS. */
export const PROVIDER_ANSWERS: Readonly<Record<string, (answer: ModelAnswer) => ProviderAnswer>> = {
  'openai-chat': toChat,
  'openai-responses': toResponses,
  'anthropic-messages': toAnthropic,
  'gemini-content': toGemini,
  'bedrock-converse': toConverse,
  'cohere-v2': toCohere,
  'ollama-chat': toOllama,
}
