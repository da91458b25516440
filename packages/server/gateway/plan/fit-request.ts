import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'

/**
 * Adapts a request to a target of another format. Removes `reasoning_effort` where the model cannot reason, and lowers
 * an output cap above the model's own. Both are needed because Anthropic's format requires an output cap and its
 * clients ask every model to think, and neither changes the answer. Elsewhere only an effort of `none` is removed,
 * which asks for what the model does anyway.
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
  const maxTokens = model.max_output_tokens
  const cap =
    maxTokens === null || maxOutputTokens === undefined
      ? maxOutputTokens
      : Math.min(maxOutputTokens, maxTokens)
  const canThink = model.capabilities.includes('reasoning')
  return {
    ...rest,
    ...(cap === undefined ? {} : { maxOutputTokens: cap }),
    ...(canThink && reasoningEffort !== undefined ? { reasoningEffort } : {}),
  }
}
