import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { fitEffort } from '@rideau/llm/formats/shared/reasoning/fit-effort'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { ChatRequest } from '@rideau/llm/request/chat-request'

/**
 * Returns the request without what asks a model for nothing: a model that cannot reason need not be told to stop reasoning.
 * An effort in Claude's words becomes one that the model takes.
 * A format whose clients always ask for reasoning and a cap gets as much of both as the model has; see
 * ParsedChat.asksByDefault. Neither changes the answer. `isPassed`: the target has
 * the caller's format, so the request goes as it came.
 */
export function fitRequest(
  parsed: ParsedChat,
  isPassed: boolean,
  format: ClientFormat,
  provider: Provider,
  model: CatalogModel | undefined,
): ChatRequest {
  if (isPassed) return parsed.request
  const request =
    parsed.hasClaudesEffort === true ? fitWords(parsed.request, format, provider, model) : parsed.request
  if (model === undefined) return request
  const canReason = model.capabilities.includes('reasoning')
  if (parsed.asksByDefault !== true) {
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

/** The clients of other formats fit Claude's words themselves. */
function fitWords(
  request: ChatRequest,
  format: ClientFormat,
  provider: Provider,
  model: CatalogModel | undefined,
): ChatRequest {
  const { reasoningEffort: effort, ...other } = request
  if (effort === undefined || !OPENAI_FORMATS.has(format.id)) return request
  const fitted = fitEffort(effort, provider, model)
  return fitted === undefined ? other : { ...request, reasoningEffort: fitted }
}

const OPENAI_FORMATS: ReadonlySet<string> = new Set(['openai-chat', 'openai-responses'])
