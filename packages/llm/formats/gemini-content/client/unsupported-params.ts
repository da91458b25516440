import type { ListUnsupportedParams } from '../../shared/client-format.ts'
import { listLostExtras } from '../../shared/requests/lost-params.ts'
import { FIELDS } from '../wire/fields.ts'
import { isPartKnown } from './encode-parts.ts'
import { isToolChoiceKnown } from './encode-tools.ts'
import { findThinking } from './thinking.ts'

/** See ClientFormat.listUnsupportedParams. */
export const listUnsupportedParams: ListUnsupportedParams = (request, provider, model, source) => {
  // A body of this format is the provider's to judge.
  if (source?.format === 'gemini-content') return []
  const { tools, toolChoice, reasoningEffort, messages } = request
  const hasTools = tools !== undefined && tools.length > 0
  const names = listLostExtras(request, FIELDS.extras)
  // Without tools there are no calls that could be parallel.
  for (const name of FIELDS.listUnsupported(request)) {
    if (name !== 'parallel_tool_calls' || hasTools) names.push(name)
  }
  if (toolChoice !== undefined && hasTools && !isToolChoiceKnown(toolChoice)) names.push('tool_choice')
  const mayThink = reasoningEffort === undefined || reasoningEffort === 'none'
  if (!mayThink && findThinking(provider, model) === undefined) names.push('reasoning_effort')
  const areKnown = messages.every(({ content }) => !Array.isArray(content) || content.every(isPartKnown))
  if (!areKnown) names.push('messages')
  return names
}
