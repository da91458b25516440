import { CAP, MODEL, STREAM } from '../../../upstream/outgoing-rules.ts'
import { choiceAt } from '../reading/read-fields.ts'
import {
  FUNCTION_FIELDS,
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
} from './chat-fields.ts'
import { MESSAGES, RESPONSE_FORMAT, STREAM_OPTIONS, TOOL_CHOICE, TOOLS } from './chat-rules.ts'
import { checked, type Field, flag, number, own, sent, text } from './field-table.ts'
import type { Strictness } from './parse-messages.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const

/**
 * The fields of a chat completion in OpenAI's shape that have a canonical meaning, in the gateway's own format (strict) and
 * in OpenAI's. Where it is not strict, ranges are the provider's to judge.
 */
export function openAiFields(strictness: Strictness): Readonly<Record<string, Field>> {
  const { strict } = strictness
  const penalty = strict ? { min: -2, max: 2 } : {}
  return {
    model: sent(MODEL, own('model')),
    messages: sent(MESSAGES, own('messages')),
    stream: sent(STREAM, own('stream')),
    stream_options: sent(STREAM_OPTIONS, own('includeUsage')),
    tools: sent(
      TOOLS,
      checked('tools', value => parseTools(value, strictness, strict ? FUNCTION_FIELDS : undefined)),
    ),
    tool_choice: sent(
      TOOL_CHOICE,
      checked('toolChoice', value => parseToolChoice(value, strictness)),
    ),
    parallel_tool_calls: flag('parallelToolCalls'),
    response_format: sent(
      RESPONSE_FORMAT,
      checked('responseFormat', value => parseResponseFormat(value, strictness)),
    ),
    max_output_tokens: sent(CAP, own('maxOutputTokens')),
    max_completion_tokens: sent(CAP, own('maxOutputTokens')),
    max_tokens: sent(CAP, own('maxOutputTokens')),
    temperature: number('temperature', strict ? { min: 0, max: 2 } : {}),
    top_p: number('topP', strict ? { min: 0, max: 1 } : {}),
    stop: checked('stop', value => parseStop(value, strictness)),
    seed: number('seed', { integer: true }),
    presence_penalty: number('presencePenalty', penalty),
    frequency_penalty: number('frequencyPenalty', penalty),
    reasoning_effort: strict
      ? checked('reasoningEffort', (value, path) => choiceAt(value, path, EFFORTS))
      : text('reasoningEffort'),
    user: text('user'),
  }
}

/** Fields of the gateway's own format that no provider is sent. */
export const GATEWAY_FIELDS: Readonly<Record<string, Field>> = {
  metadata: own(),
  end_user: own(),
  timeout_ms: own(),
  provider_options: own('providerOptions'),
}
