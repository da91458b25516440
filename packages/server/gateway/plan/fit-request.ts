import type { ParsedChat } from '@rideau/llm/formats/shared/parsed-chat'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { ChatRequest } from '@rideau/llm/request/chat-request'

/**
 * Returns the request without what asks a model for nothing: a model that cannot reason need not be told to stop reasoning.
 * A format whose clients always ask for reasoning and a cap gets as much of both as the model has; see
 * ParsedChat.asksByDefault. Neither changes the answer. `isPassed`: the target has
 * the caller's format, so the request goes as it came.
 */
export function fitRequest(
  { request, asksByDefault }: ParsedChat,
  isPassed: boolean,
  model: CatalogModel | undefined,
): ChatRequest {
  if (isPassed || model === undefined) return request
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
