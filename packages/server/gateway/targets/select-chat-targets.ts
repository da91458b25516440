import { chooseClientFormatId } from '@rideau/llm/formats/choose-client-format'
import { showPath } from '@rideau/llm/formats/shared/reading/field-path'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { hasImages } from '@rideau/llm/formats/shared/requests/chat-fields'
import { LONG_CONTEXT, takesLongContext } from '@rideau/llm/formats/shared/requests/long-context'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { type CapabilityNeed, checkCapabilities } from '../../core/models/capabilities.ts'
import { capToCostBound } from './cap-to-cost-bound.ts'
import type { ChatSelection, ChatTarget, ChatTargetVerdict } from './chat-selection.ts'
import { checkAudioPrice } from './check-audio-price.ts'
import { checkFindings } from './check-findings.ts'
import { checkOwnRoute } from './check-own-route.ts'
import { checkTargetPriced } from './check-priced.ts'
import { fitRequest } from './fit-request.ts'
import { fitToolChoice, isChoiceDropped } from './fit-tool-choice.ts'
import { grantHostedTools } from './grant-hosted-tools.ts'
import {
  findLost,
  isOneCallEnsured,
  listDroppedFields,
  listUnsupportedFields,
  listWithheld,
} from './list-dropped-fields.ts'
import type { Requester } from './requester.ts'
import { selectTargets } from './select-targets.ts'
import type { SelectionDeps } from './selection-deps.ts'
import type { ResolvedTarget } from './target-selection.ts'
import { toUnsupportedRefusal } from './unsupported-param.ts'
import { withoutUser } from './without-user.ts'

const CHAT: CapabilityNeed = { capability: 'chat', param: 'model' }
const TOOLS: CapabilityNeed = { capability: 'tools', param: 'tools' }
const FORMAT: CapabilityNeed = { capability: 'response_format', param: 'response_format' }
const VISION: CapabilityNeed = { capability: 'vision', param: 'messages' }
const TEXT_ONLY = [CHAT]

interface ChatRequester extends Requester {
  readonly endUser?: { readonly id: string } | undefined
  readonly route: { readonly mount: Mount }
}

/**
 * Selects the targets of a parsed chat request, with the checks in the order of ARCHITECTURE.md, "One request". Throws the
 * fault of the check that refuses it.
 */
export function selectChatTargets(
  parsed: ParsedChat,
  source: SourceBody,
  requester: ChatRequester,
  limits: MeterSet,
  deps: SelectionDeps,
): ChatSelection {
  const { request } = parsed
  const { caller, endUser, environment, route } = requester
  const { mount } = route
  const query = {
    name: request.model,
    caller,
    environment,
    limits,
    isStream: request.stream,
    mount,
    conversation: { endUserId: endUser?.id, messages: request.messages },
  }
  const selection = selectTargets<ChatTarget>(
    query,
    (resolved): ChatTargetVerdict => {
      const long = parsed.findings.raisesWindow === true ? withLongContext(resolved) : resolved
      const target = toVerdict(long, parsed, source, requester, deps)
      return capToCostBound(checkTargetPriced(target, limits), caller, parsed, source, deps.random)
    },
    deps,
  )
  const { targets, alias, isStream } = selection
  return { targets, alias, isStream, parsed, source }
}

/** What is reserved, bounded and believed of a usage report rests on the window. A target that a beta does not concern keeps its own. */
function withLongContext(resolved: ResolvedTarget): ResolvedTarget {
  const { catalogModel, provider, model } = resolved
  const window = catalogModel?.context_window ?? null
  if (catalogModel === undefined || window === null || window >= LONG_CONTEXT) return resolved
  if (!takesLongContext(provider, model)) return resolved
  return { ...resolved, catalogModel: { ...catalogModel, context_window: LONG_CONTEXT } }
}

function toVerdict(
  resolved: ResolvedTarget,
  parsed: ParsedChat,
  source: SourceBody,
  requester: Requester,
  { formats }: SelectionDeps,
): ChatTargetVerdict {
  const { provider, model, id, catalogModel, credentials, alias } = resolved
  const format = formats.client(chooseClientFormatId(provider, model, parsed.request, source.format))
  const misplaced = checkOwnRoute(resolved, format, source)
  if (misplaced !== undefined) return { refusal: misplaced }
  const whole = fitRequest(parsed, format.id === source.format, format, provider, catalogModel)
  const missing = catalogModel === undefined ? undefined : checkCapabilities(listNeeds(whole), catalogModel)
  if (missing !== undefined) return { refusal: missing }
  const unpriced = checkAudioPrice(whole, provider, catalogModel)
  if (unpriced !== undefined) return { refusal: unpriced }
  const fitted = fitToolChoice(whole, format)
  const request = withoutUser(fitted ?? whole, requester)
  const refusal = checkFindings(parsed, format, source, requester)
  if (refusal !== undefined) return { refusal }
  // Parameters that the target does not support are dropped if they are hints, and otherwise refused by name, or dropped if
  // the environment's `unsupported_params` is `drop`.
  const unsupportedParams = format.listUnsupportedParams(request, provider, model, source)
  const isChoiceUnsent = isChoiceDropped(whole, fitted)
  const unsupported = listUnsupportedFields(
    parsed,
    { format, provider, model },
    source,
    unsupportedParams,
    isChoiceUnsent,
  )
  const withheld = listWithheld(source, provider, requester)
  if (requester.environment.unsupportedParams === 'refuse') {
    const lost = findLost(unsupported, withheld)
    if (lost !== undefined) {
      return { refusal: toUnsupportedRefusal(showParam(lost, parsed), `the provider ${provider.id}`) }
    }
  }
  const hosted = grantHostedTools(parsed.findings, resolved, format, source, requester)
  const dropped = listDroppedFields(unsupported, parsed, format, source, hosted, withheld)
  // A choice of one function asks for no more than one call.
  const keepsFirstCall =
    isOneCallEnsured(format, source, unsupportedParams) && typeof request.toolChoice !== 'object'
  // Listed one by one, since V8 builds a hidden class for each object made by a spread and further fields.
  return {
    provider,
    model,
    id,
    catalogModel,
    credentials,
    alias,
    format,
    request,
    dropped,
    withheld,
    hosted,
    keepsFirstCall,
  }
}

/** Returns a parameter's name as the caller wrote it. */
export function showParam(name: string, { spellings }: ParsedChat): string {
  return spellings?.get(name) ?? showPath(name)
}

function listNeeds(request: ChatRequest): readonly CapabilityNeed[] {
  const hasTools = request.tools !== undefined && request.tools.length > 0
  const hasFormat = request.responseFormat !== undefined && request.responseFormat.type !== 'text'
  const seesImages = hasImages(request.messages)
  if (!hasTools && !hasFormat && !seesImages) return TEXT_ONLY
  const needs = [CHAT]
  if (hasTools) needs.push(TOOLS)
  if (hasFormat) needs.push(FORMAT)
  if (seesImages) needs.push(VISION)
  return needs
}
