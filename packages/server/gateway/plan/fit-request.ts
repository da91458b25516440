import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { FormatId } from '@rideau/llm/request/format-id'

/**
 * Returns the request without what asks a model for nothing: a model that cannot reason need not be told to stop reasoning.
 * A format whose clients always ask for reasoning and a cap gets as much of both as the model has; see
 * ParsedChat.asksByDefault. Neither changes the answer. A request in the provider's own format goes as it came.
 */
export function fitRequest(
  { request, asksByDefault }: ParsedChat,
  format: FormatId,
  provider: Provider,
  model: CatalogModel | undefined,
): ChatRequest {
  if (provider.format === format || model === undefined) return request
  const canReason = model.capabilities.includes('reasoning')
  if (asksByDefault !== true) {
    if (request.reasoningEffort !== 'none' || canReason) return request
    const { reasoningEffort: _, ...other } = request
    return other
  }
  const { reasoningEffort, maxOutputTokens, ...rest } = request
  const maxTokens = model.max_output_tokens
  const cap =
    maxTokens === null || maxOutputTokens === undefined
      ? maxOutputTokens
      : Math.min(maxOutputTokens, maxTokens)
  return {
    ...rest,
    ...(cap === undefined ? {} : { maxOutputTokens: cap }),
    ...(canReason && reasoningEffort !== undefined ? { reasoningEffort } : {}),
  }
}
