import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'

/**
 * A model that cannot think does what is asked of it where it is told not to. Anthropic's format makes every caller name an output cap, and its clients ask every model to think if it can. A model
 * of another format gets no higher cap than it has, and is not asked to think where it cannot: neither changes the answer.
 */
export function fitRequest(
  request: ChatRequest,
  { format }: SourceBody,
  provider: Provider,
  model: CatalogModel | undefined,
): ChatRequest {
  if (provider.format === format || model === undefined) return request
  if (format !== 'anthropic-messages') {
    if (request.reasoningEffort !== 'none' || model.capabilities.includes('reasoning')) return request
    const { reasoningEffort: _, ...other } = request
    return other
  }
  const { reasoningEffort, maxOutputTokens, ...rest } = request
  const most = model.max_output_tokens
  const cap =
    most === null || maxOutputTokens === undefined ? maxOutputTokens : Math.min(maxOutputTokens, most)
  const canThink = model.capabilities.includes('reasoning')
  return {
    ...rest,
    ...(cap === undefined ? {} : { maxOutputTokens: cap }),
    ...(canThink && reasoningEffort !== undefined ? { reasoningEffort } : {}),
  }
}
