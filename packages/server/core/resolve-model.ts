import { isModelAllowed } from './authorize.ts'
import type { Alias, AliasTarget, Credential, Environment, Rights } from './tenancy.ts'
import type { Refusal } from './verdict.ts'

/** What the product knows of models, as far as resolving needs it. */
export interface ModelDirectory {
  hasProvider(providerId: string): boolean
  /** Are the provider's models its owner's own, so that every name is taken? */
  takesAnyName(providerId: string): boolean
  /** Does the catalogue list the model? */
  hasModel(providerId: string, modelId: string): boolean
  /** Providers whose catalogue lists the model, its maker's own first. Any-name providers never count. */
  providersOf(modelId: string): readonly string[]
  /** Does the provider list models of its own make? */
  isMaker(providerId: string): boolean
}

/** What of a credential tells which models there are. */
export interface Lister {
  readonly provider: string
  readonly discovered: ReadonlySet<string>
}

/** What of an environment a name is resolved by. */
export interface Surroundings<C extends Lister>
  extends Pick<Environment, 'name' | 'allowedModels' | 'customModels'> {
  /** Oldest first. */
  readonly credentials: readonly C[]
}

export interface ResolvedModel<C extends Lister = Credential> {
  readonly provider: string
  /** As the provider knows it. */
  readonly model: string
  /** `provider/model`, as callers see it. */
  readonly id: string
  /** Credentials that can serve it, oldest first; never empty. */
  readonly credentials: readonly C[]
}

export type Resolution<C extends Lister = Credential> =
  | { readonly resolved: ResolvedModel<C> }
  | { readonly refusal: Refusal }

/** What a caller's name stands for: one model, or an alias with what came of each of its targets. */
export type NameResolution =
  | Resolution
  | { readonly alias: Alias; readonly targets: readonly { target: AliasTarget; resolution: Resolution }[] }

interface Named {
  readonly provider: string
  readonly model: string
}

/**
 * From the name that a caller sent to what can serve it, in the order of contract.md §3: the key's list (403 before
 * 404), the environment's, then what exists, then who has a credential for it. An alias wins over a bare name. A key
 * opens it by the alias's own name and needs no right to its targets; the environment's list applies to each of them.
 */
export function resolveName(
  asked: string,
  rights: Pick<Rights, 'allowedModels'>,
  environment: Environment,
  directory: ModelDirectory,
): NameResolution {
  const alias = environment.aliases.get(asked)
  if (alias === undefined) return resolveModel(asked, rights, environment, directory)
  if (rights.allowedModels !== null && !rights.allowedModels.includes(alias.name))
    return forbiddenToKey(asked)
  const targets = alias.targets.map(target => ({
    target,
    resolution: resolveTarget(target.model, environment, directory),
  }))
  const isForbidden = targets.every(
    ({ resolution }) => 'refusal' in resolution && resolution.refusal.code === 'model_not_allowed',
  )
  return isForbidden ? forbiddenHere(asked) : { alias, targets }
}

/** A model by `provider/model` or bare name, past all aliases. */
export function resolveModel(
  asked: string,
  rights: Pick<Rights, 'allowedModels'>,
  environment: Environment,
  directory: ModelDirectory,
): Resolution {
  const named = toCanonical(asked, environment, directory)
  const id = named === undefined ? asked : `${named.provider}/${named.model}`
  if (!isModelAllowed(rights.allowedModels, id, asked, environment.aliases)) return forbiddenToKey(asked)
  return resolveNamed(asked, id, named, environment, directory)
}

/** What an alias points at: no key is asked, since the alias opened it. */
export function resolveTarget<C extends Lister>(
  asked: string,
  environment: Surroundings<C>,
  directory: ModelDirectory,
): Resolution<C> {
  const named = toCanonical(asked, environment, directory)
  const id = named === undefined ? asked : `${named.provider}/${named.model}`
  return resolveNamed(asked, id, named, environment, directory)
}

function resolveNamed<C extends Lister>(
  asked: string,
  id: string,
  named: Named | undefined,
  environment: Surroundings<C>,
  directory: ModelDirectory,
): Resolution<C> {
  if (!isModelAllowed(environment.allowedModels, id, asked)) return forbiddenHere(asked)
  if (named === undefined || !isKnown(named, id, environment, directory)) {
    return refuse('model_not_found', `Nothing here knows the model ${quote(asked)}.`)
  }
  const credentials = environment.credentials.filter(credential => credential.provider === named.provider)
  if (credentials.length === 0) {
    return refuse(
      'provider_credential_missing',
      `This environment (${environment.name}) holds no credential for the provider ${named.provider}.`,
    )
  }
  return { resolved: { provider: named.provider, model: named.model, id, credentials } }
}

/** The catalogue, what a provider's own list named, the environment's own models (contract.md §3). */
function isKnown(
  { provider, model }: Named,
  id: string,
  environment: Surroundings<Lister>,
  directory: ModelDirectory,
): boolean {
  return (
    directory.hasModel(provider, model) ||
    directory.takesAnyName(provider) ||
    environment.customModels.has(id) ||
    environment.credentials.some(
      credential => credential.provider === provider && credential.discovered.has(model),
    )
  )
}

/** `provider/model` of a name; undefined where nothing knows it. */
function toCanonical(
  asked: string,
  environment: Surroundings<Lister>,
  directory: ModelDirectory,
): Named | undefined {
  const slash = asked.indexOf('/')
  if (slash > 0 && directory.hasProvider(asked.slice(0, slash))) {
    const model = asked.slice(slash + 1)
    return model === '' ? undefined : { provider: asked.slice(0, slash), model }
  }
  // A bare name goes to its maker's own provider if that has a credential, else to the oldest that lists the model.
  let oldest: string | undefined
  for (const credential of environment.credentials) {
    if (!lists(credential, asked, environment, directory)) continue
    if (directory.isMaker(credential.provider)) return { provider: credential.provider, model: asked }
    oldest ??= credential.provider
  }
  const provider = oldest ?? directory.providersOf(asked)[0]
  return provider === undefined ? undefined : { provider, model: asked }
}

/** Does the credential's provider list the model? Any-name providers never count. */
function lists(
  { provider, discovered }: Lister,
  model: string,
  environment: Surroundings<Lister>,
  directory: ModelDirectory,
): boolean {
  if (directory.takesAnyName(provider)) return false
  return (
    directory.hasModel(provider, model) ||
    discovered.has(model) ||
    environment.customModels.has(`${provider}/${model}`)
  )
}

function forbiddenToKey(asked: string): { refusal: Refusal } {
  return refuse('model_not_allowed', `This key may not use the model ${quote(asked)}.`)
}

function forbiddenHere(asked: string): { refusal: Refusal } {
  return refuse('model_not_allowed', `This environment does not allow the model ${quote(asked)}.`)
}

function refuse(code: Refusal['code'], message: string): { refusal: Refusal } {
  return { refusal: { code, message, param: 'model' } }
}

/** A caller's own text in a message: short, and without anything that could break a log line. */
function quote(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return JSON.stringify(shown)
}
