import { isModelAllowed } from './authorize.ts'
import type { Credential, Environment, Key } from './tenancy.ts'
import type { Refusal } from './verdict.ts'

/** What the product knows of models, as far as resolving needs it. */
export interface ModelDirectory {
  hasProvider(providerId: string): boolean
  /** Is the model known, or are the provider's models its owner's own? */
  hasModel(providerId: string, modelId: string): boolean
  /** Providers whose catalogue lists the model, its maker's own first. Any-name providers never count. */
  providersOf(modelId: string): readonly string[]
  isMaker(providerId: string, modelId: string): boolean
}

export interface ResolvedModel {
  readonly provider: string
  /** As the provider knows it. */
  readonly model: string
  /** Credentials that can serve it, oldest first; never empty. */
  readonly credentials: readonly Credential[]
}

export type Resolution = { readonly resolved: ResolvedModel } | { readonly refusal: Refusal }

interface Named {
  readonly provider: string
  readonly model: string
}

/**
 * From the name that a caller sent to a provider, a model and credentials, in the order of contract.md §3: the key's
 * list (403 before 404), the environment's, then what exists, then who has a credential for it.
 */
export function resolveModel(
  asked: string,
  key: Key,
  environment: Environment,
  directory: ModelDirectory,
): Resolution {
  const named = toCanonical(asked, environment, directory)
  const canonical = named === undefined ? asked : `${named.provider}/${named.model}`
  if (!isModelAllowed(key.allowedModels, canonical, asked)) {
    return refuse('model_not_allowed', `This key may not use the model ${quote(asked)}.`)
  }
  if (!isModelAllowed(environment.allowedModels, canonical, asked)) {
    return refuse('model_not_allowed', `This environment does not allow the model ${quote(asked)}.`)
  }
  if (named === undefined || !directory.hasModel(named.provider, named.model)) {
    return refuse('model_not_found', `Nothing here knows the model ${quote(asked)}.`)
  }
  const credentials = environment.credentials.filter(credential => credential.provider === named.provider)
  if (credentials.length === 0) {
    return refuse(
      'provider_credential_missing',
      `This environment (${environment.name}) holds no credential for the provider ${named.provider}.`,
    )
  }
  return { resolved: { ...named, credentials } }
}

/** `provider/model` of a name; undefined where nothing knows it. */
function toCanonical(asked: string, environment: Environment, directory: ModelDirectory): Named | undefined {
  const slash = asked.indexOf('/')
  if (slash > 0 && directory.hasProvider(asked.slice(0, slash))) {
    const model = asked.slice(slash + 1)
    return model === '' ? undefined : { provider: asked.slice(0, slash), model }
  }
  const providers = directory.providersOf(asked)
  const [first] = providers
  if (first === undefined) return undefined
  const credentialed = (provider: string): boolean =>
    environment.credentials.some(credential => credential.provider === provider)
  // A bare name goes to its maker's own provider if that has a credential, else to the oldest that lists the model.
  if (directory.isMaker(first, asked) && credentialed(first)) return { provider: first, model: asked }
  const oldest = environment.credentials.find(credential => providers.includes(credential.provider))
  return { provider: oldest?.provider ?? first, model: asked }
}

function refuse(code: Refusal['code'], message: string): { refusal: Refusal } {
  return { refusal: { code, message, param: 'model' } }
}

/** A caller's own text in a message: short, and without anything that could break a log line. */
function quote(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return JSON.stringify(shown)
}
