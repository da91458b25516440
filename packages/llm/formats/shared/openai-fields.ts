import {
  parseResponseFormat,
  parseStop,
  parseToolChoice,
  parseTools,
  type Strictness,
} from './chat-fields.ts'
import { checked, type Field, flag, number, own, text } from './field-table.ts'
import { choiceAt } from './read-fields.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const

/**
 * The fields of a chat completion in OpenAI's shape that have a canonical meaning, in the gateway's own format (strict) and
 * in OpenAI's. Where it is not strict, ranges are the provider's to judge.
 */
export function openAiFields(how: Strictness): Readonly<Record<string, Field>> {
  const { strict } = how
  const penalty = strict ? { min: -2, max: 2 } : {}
  return {
    model: own('model'),
    messages: own('messages'),
    stream: own('stream'),
    stream_options: own('includeUsage'),
    tools: checked('tools', value => parseTools(value, how)),
    tool_choice: checked('toolChoice', value => parseToolChoice(value, how)),
    parallel_tool_calls: flag('parallelToolCalls'),
    response_format: checked('responseFormat', value => parseResponseFormat(value, how)),
    max_output_tokens: own('maxOutputTokens'),
    max_completion_tokens: own('maxOutputTokens'),
    max_tokens: own('maxOutputTokens'),
    temperature: number('temperature', strict ? { min: 0, max: 2 } : {}),
    top_p: number('topP', strict ? { min: 0, max: 1 } : {}),
    stop: checked('stop', parseStop),
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
