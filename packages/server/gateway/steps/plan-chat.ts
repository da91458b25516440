import { findModel } from '@rideau/llm/catalog'
import { findUnsupportedParams } from '@rideau/llm/dialects/openai-chat/encode-request'
import { findProvider } from '@rideau/llm/providers/index'
import type { CatalogModel, ChatRequest, Provider, SourceBody } from '@rideau/llm/spec'
import { Fault } from '../../core/fault.ts'
import { resolveModel } from '../../core/resolve-model.ts'
import type { Credential, Environment, Key } from '../../core/tenancy.ts'
import { modelDirectory } from '../model-directory.ts'
import { hasImages } from '../surfaces/chat-fields.ts'
import type { ChatCall } from '../surfaces/native-chat.ts'
import type { JsonBody } from './read-json.ts'

/** Everything that is decided before a provider is called. */
export interface ChatPlan {
  readonly call: ChatCall
  readonly request: ChatRequest
  readonly source: SourceBody
  readonly provider: Provider
  /** As the provider knows it; `provider.id/model` is what callers see. */
  readonly model: string
  /** undefined: known by name only, so capabilities are permissive and the price is unknown. */
  readonly catalogModel: CatalogModel | undefined
  /** Oldest first; never empty. */
  readonly credentials: readonly Credential[]
  /** Parameters left out because the environment says `drop`. */
  readonly dropped: readonly string[]
}

/** From the parsed body to a plan, by the order of checks in contract.md §3. */
export function planChat(call: ChatCall, body: JsonBody, key: Key, environment: Environment): ChatPlan {
  const { request } = call
  const resolution = resolveModel(request.model, key, environment, modelDirectory)
  if ('refusal' in resolution) {
    const { code, message } = resolution.refusal
    throw new Fault(code, message, { param: 'model' })
  }
  const { provider: providerId, model, credentials } = resolution.resolved
  const provider = findProvider(providerId)
  if (provider === undefined) throw new Error(`resolved to a provider that does not exist: ${providerId}`)
  const catalogModel = findModel(provider.id, model)
  checkCapabilities(request, catalogModel)
  return {
    call,
    request,
    source: body.source,
    provider,
    model,
    catalogModel,
    credentials,
    dropped: findDropped(request, provider, environment),
  }
}

function checkCapabilities(request: ChatRequest, model: CatalogModel | undefined): void {
  if (model === undefined) return
  const has = (capability: CatalogModel['capabilities'][number]): boolean =>
    model.capabilities.includes(capability)
  if (!has('chat')) throw lacks('chat', 'model')
  if (request.tools !== undefined && request.tools.length > 0 && !has('tools')) throw lacks('tools', 'tools')
  const format = request.responseFormat
  if (format !== undefined && format.type !== 'text' && !has('response_format')) {
    throw lacks('response_format', 'response_format')
  }
  if (!has('vision') && hasImages(request.messages)) throw lacks('vision', 'messages')
}

function lacks(capability: string, param: string): Fault {
  return new Fault('model_missing_capability', `The model lacks the capability ${capability}.`, { param })
}

/** What the target cannot honour is refused by name, or dropped where the environment says so. */
function findDropped(request: ChatRequest, provider: Provider, environment: Environment): readonly string[] {
  const unsupported = findUnsupportedParams(request, provider)
  const [first] = unsupported
  if (first === undefined || environment.unsupportedParams === 'drop') return unsupported
  throw new Fault('invalid_request', `${first}: the provider ${provider.id} cannot honour this parameter.`, {
    param: first,
  })
}
