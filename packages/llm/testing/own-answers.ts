import type { JsonObject } from '../json/json-value.ts'
import type { ClientFormatId } from '../request/format-id.ts'
import type { RecordedFrame } from './recorded-answers.ts'

interface OwnAnswer {
  readonly plain: JsonObject
  /** The answer as a stream. */
  readonly frames: readonly RecordedFrame[]
}

const ARGUMENTS = '{"city":"Oslo"}'
const INPUT = { city: 'Oslo' }

function frame(body: JsonObject, event = ''): RecordedFrame {
  return { event, data: JSON.stringify(body) }
}

const openAiUsage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
const responsesUsage = { input_tokens: 9, output_tokens: 5, total_tokens: 14 }
const geminiUsage = { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 }
const bedrockUsage = { inputTokens: 9, outputTokens: 5, totalTokens: 14 }
const cohereUsage = { billed_units: { input_tokens: 9, output_tokens: 5 } }
const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: ARGUMENTS }
const wireCall = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: ARGUMENTS } }

/** One call of a tool after a word of text, in every format. */
export const OWN_ANSWERS: Readonly<Record<ClientFormatId, OwnAnswer>> = {
  'openai-chat': {
    plain: {
      id: 'c',
      choices: [
        { index: 0, message: { content: 'Hm', tool_calls: [wireCall] }, finish_reason: 'tool_calls' },
      ],
      usage: openAiUsage,
    },
    frames: [
      frame({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hm' } }] }),
      frame({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...wireCall }] } }] }),
      frame({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: openAiUsage }),
      { event: '', data: '[DONE]' },
    ],
  },
  'openai-responses': {
    plain: {
      id: 'r',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hm' }] }, item],
      usage: responsesUsage,
    },
    frames: [
      frame({ type: 'response.created', response: { id: 'r' } }),
      frame({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hm' }),
      frame({ type: 'response.output_item.added', output_index: 1, item: { ...item, arguments: '' } }),
      frame({ type: 'response.function_call_arguments.delta', output_index: 1, delta: ARGUMENTS }),
      frame({ type: 'response.output_item.done', output_index: 1, item }),
      frame({ type: 'response.completed', response: { status: 'completed', usage: responsesUsage } }),
    ],
  },
  'anthropic-messages': {
    plain: {
      type: 'message',
      content: [
        { type: 'text', text: 'Hm' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: INPUT },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 9, output_tokens: 5 },
    },
    frames: [
      frame({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } }),
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hm' } }),
      frame({ type: 'content_block_stop', index: 0 }),
      frame({
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      }),
      frame({
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: ARGUMENTS },
      }),
      frame({ type: 'content_block_stop', index: 1 }),
      frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }),
      frame({ type: 'message_stop' }),
    ],
  },
  'gemini-content': {
    plain: {
      candidates: [
        {
          content: { parts: [{ text: 'Hm' }, { functionCall: { name: 'weather', args: INPUT } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: geminiUsage,
    },
    frames: [
      frame({ candidates: [{ content: { parts: [{ text: 'Hm' }] } }] }),
      frame({
        candidates: [{ content: { parts: [{ functionCall: { name: 'weather', willContinue: true } }] } }],
      }),
      frame({
        candidates: [
          {
            content: {
              parts: [{ functionCall: { partialArgs: [{ jsonPath: '$.city', stringValue: 'Oslo' }] } }],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: geminiUsage,
      }),
    ],
  },
  'bedrock-converse': {
    plain: {
      output: {
        message: {
          content: [{ text: 'Hm' }, { toolUse: { toolUseId: 't1', name: 'weather', input: INPUT } }],
        },
      },
      stopReason: 'tool_use',
      usage: bedrockUsage,
    },
    frames: [
      frame({ role: 'assistant' }, 'messageStart'),
      frame({ contentBlockIndex: 0, delta: { text: 'Hm' } }, 'contentBlockDelta'),
      frame(
        { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name: 'weather' } } },
        'contentBlockStart',
      ),
      frame({ contentBlockIndex: 1, delta: { toolUse: { input: ARGUMENTS } } }, 'contentBlockDelta'),
      frame({ contentBlockIndex: 1 }, 'contentBlockStop'),
      frame({ stopReason: 'tool_use' }, 'messageStop'),
      frame({ usage: bedrockUsage }, 'metadata'),
    ],
  },
  'cohere-v2': {
    plain: {
      message: { tool_plan: 'Hm', tool_calls: [wireCall] },
      finish_reason: 'TOOL_CALL',
      usage: cohereUsage,
    },
    frames: [
      frame({ type: 'message-start' }),
      frame({ type: 'tool-plan-delta', delta: { message: { tool_plan: 'Hm' } } }),
      frame({ type: 'tool-call-start', index: 0, delta: { message: { tool_calls: wireCall } } }),
      frame({ type: 'tool-call-end', index: 0 }),
      frame({ type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage: cohereUsage } }),
    ],
  },
  'ollama-chat': {
    plain: {
      message: { content: 'Hm', tool_calls: [{ function: { name: 'weather', arguments: INPUT } }] },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 9,
      eval_count: 5,
    },
    frames: [
      frame({ message: { content: 'Hm' } }),
      frame({ message: { tool_calls: [{ function: { name: 'weather', arguments: INPUT } }] } }),
      frame({ message: {}, done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 5 }),
    ],
  },
}
