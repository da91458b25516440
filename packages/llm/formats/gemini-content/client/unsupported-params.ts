import type { Provider } from '../../../provider/provider.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { findLostParams } from '../../shared/lost-params.ts'
import { isPartKnown } from './encode-parts.ts'
import { isToolChoiceKnown } from './encode-tools.ts'
import { findThinking } from './thinking.ts'

/** Fields of an OpenAI-format caller that have no canonical meaning, but a word here. */
const PASSED_ON = ['n', 'top_k']

/** See ClientFormat. */
export function findUnsupportedParams(
  request: ChatRequest,
  provider: Provider,
  model: string,
  source?: SourceBody,
): readonly string[] {
  // A body of this format goes out as it came.
  if (source?.format === 'gemini-content') return []
  const { tools, toolChoice, parallelToolCalls, reasoningEffort, messages } = request
  const names = findLostParams(request, [], PASSED_ON)
  const hasTools = tools !== undefined && tools.length > 0
  if (parallelToolCalls === false && hasTools) names.push('parallel_tool_calls')
  if (toolChoice !== undefined && hasTools && !isToolChoiceKnown(toolChoice)) names.push('tool_choice')
  const mayThink = reasoningEffort === undefined || reasoningEffort === 'none'
  if (!mayThink && findThinking(provider, model) === undefined) names.push('reasoning_effort')
  const areKnown = messages.every(({ content }) => !Array.isArray(content) || content.every(isPartKnown))
  if (!areKnown) names.push('messages')
  return names
}
