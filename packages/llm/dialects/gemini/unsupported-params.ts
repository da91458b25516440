import type { ChatRequest, Provider, SourceBody } from '../../spec.ts'
import { isHarmless } from '../openai-chat/harmless-params.ts'
import { isPartKnown } from './encode-parts.ts'
import { isToolChoiceKnown } from './encode-tools.ts'
import { readField } from './read-source.ts'
import { findThinking } from './thinking.ts'

/** Fields of OpenAI's format that are translated, or that ask for nothing of the model. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
  'user',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
])

/** See ClientDialect. */
export function findUnsupportedParams(
  request: ChatRequest,
  provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  const names: string[] = []
  const { tools, toolChoice, parallelToolCalls, reasoningEffort, messages } = request
  const hasTools = tools !== undefined && tools.length > 0
  if (parallelToolCalls === false && hasTools) names.push('parallel_tool_calls')
  if (toolChoice !== undefined && hasTools && !isToolChoiceKnown(toolChoice)) names.push('tool_choice')
  const mayThink = reasoningEffort === undefined || reasoningEffort === 'none'
  if (!mayThink && findThinking(provider, model) === undefined) names.push('reasoning_effort')
  const areKnown = messages.every(({ content }) => !Array.isArray(content) || content.every(isPartKnown))
  if (!areKnown) names.push('messages')
  if (source?.surface === 'openai-chat') {
    for (const name of source.fields.keys()) {
      if (!TRANSLATED.has(name) && !isHarmless(name, readField(source, name))) names.push(name)
    }
  }
  return names
}
