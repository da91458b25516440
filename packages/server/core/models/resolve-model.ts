import { toAllowSet } from '../access/allow-set.ts'
import { isModelAllowed } from '../access/authorize.ts'
import type { Refusal } from '../refusal.ts'
import type { Alias, AliasTarget, Credential, Environment } from '../tenancy/tenancy.ts'

/** The catalogue and the providers, as resolving needs them. */
export interface ModelDirectory {
  hasProvider(providerId: string): boolean
  /** True if the provider accepts any model name, because its owner runs the models. */
  takesAnyName(providerId: string): boolean
  /** True if a name that nothing knows may be sent to the provider, which then decides about it. */
  takesUnknownName(providerId: string, modelId: string): boolean
  /** True if the catalogue lists the model. */
  hasModel(providerId: string, modelId: string): boolean
  /** Providers whose catalogue lists the model, its maker first. Providers that accept any name are left out. */
  providersOf(modelId: string): readonly string[]
  /** True if the models in the provider's catalogue are its own. */
  isMaker(providerId: string): boolean
}

/** The part of a credential that determines its models. */
export interface ModelSource {
  readonly provider: string
  readonly discovered: ReadonlySet<string>
}

/** The part of an environment that names are resolved with. */
export interface ModelEnvironment<C extends ModelSource>
  extends Pick<Environment, 'name' | 'allowedModels' | 'customModels'> {
  /** Oldest first. */
  readonly credentials: readonly C[]
}

export interface ResolvedModel<C extends ModelSource = Credential> {
  readonly provider: string
  /** The model's name at the provider. */
  readonly model: string
  /** `provider/model`, as callers see it. */
  readonly id: string
  /** Credentials that can serve it, oldest first; never empty. */
  readonly credentials: readonly C[]
  /** False: only the provider can tell whether there is such a model. */
  readonly isKnown: boolean
}

export type Resolution<C extends ModelSource = Credential> =
  | { readonly resolved: ResolvedModel<C> }
  | { readonly refusal: Refusal }

/** What a requested name resolves to: one model, or an alias with the resolution of each target. */
export type NameResolution =
  | Resolution
  | { readonly alias: Alias; readonly targets: readonly { target: AliasTarget; resolution: Resolution }[] }

/** The lists of allowed models that come with a caller. null: every model. The environment has a list of its own. */
export interface AllowLists {
  /** The list of the key that was sent, or that minted the token. */
  readonly key: readonly string[] | null
  /** The list of the end user's plan. */
  readonly plan: readonly string[] | null
}

interface QualifiedModel {
  readonly provider: string
  readonly model: string
}

const NO_PROVIDERS: readonly string[] = []

/**
 * Resolves the name that a caller sent. Checks in this order: the key's allow-list (so 403 comes before 404), the
 * environment's, the plan's, whether the model exists, whether there is a credential for it. An alias wins over a bare name.
 * A key must allow the alias's own name and not its targets; the other lists apply to each target. `ownProviders`: those
 * whose own format the caller uses; a bare name that is unknown goes to the first of them that has a credential, if the
 * lists allow its full name.
 */
export function resolveName(
  name: string,
  lists: AllowLists,
  environment: Environment,
  directory: ModelDirectory,
  ownProviders = NO_PROVIDERS,
): NameResolution {
  const alias = environment.aliases.get(name)
  if (alias === undefined) return resolveModel(name, lists, environment, directory, ownProviders)
  if (lists.key !== null && !toAllowSet(lists.key).has(alias.name)) return forbiddenByKey(name)
  const targets = alias.targets.map(target => ({
    target,
    resolution: resolveTarget(target.model, environment, directory, lists.plan),
  }))
  const isForbidden = targets.every(
    ({ resolution }) => 'refusal' in resolution && resolution.refusal.code === 'model_not_allowed',
  )
  if (!isForbidden) return { alias, targets }
  return lists.plan === null ? forbiddenByEnvironment(name) : forbiddenTargets(name)
}

/** Resolves `provider/model` or a bare name, without aliases. */
function resolveModel(
  name: string,
  lists: AllowLists,
  environment: Environment,
  directory: ModelDirectory,
  ownProviders = NO_PROVIDERS,
): Resolution {
  const named = toCanonical(name, environment, directory) ?? toOwn(name, environment, ownProviders)
  const id = named === undefined ? name : `${named.provider}/${named.model}`
  if (!isModelAllowed(lists.key, id, name, environment.aliases)) return forbiddenByKey(name)
  return resolveNamed(name, id, named, environment, directory, lists.plan)
}

/** Resolves a target of an alias. The key's allow-list does not apply, because the key allows the alias. */
export function resolveTarget<C extends ModelSource>(
  name: string,
  environment: ModelEnvironment<C>,
  directory: ModelDirectory,
  planAllows: AllowLists['plan'] = null,
): Resolution<C> {
  const named = toCanonical(name, environment, directory)
  const id = named === undefined ? name : `${named.provider}/${named.model}`
  return resolveNamed(name, id, named, environment, directory, planAllows)
}

function resolveNamed<C extends ModelSource>(
  name: string,
  id: string,
  named: QualifiedModel | undefined,
  environment: ModelEnvironment<C>,
  directory: ModelDirectory,
  planAllows: AllowLists['plan'],
): Resolution<C> {
  if (!isModelAllowed(environment.allowedModels, id, name)) return forbiddenByEnvironment(name)
  if (!isModelAllowed(planAllows, id, name)) return forbiddenByPlan(name)
  const isListed = named !== undefined && isKnown(named, id, environment, directory)
  if (named === undefined || !(isListed || directory.takesUnknownName(named.provider, named.model))) {
    return toRefusal('model_not_found', `This environment has no model ${quote(name)}.`)
  }
  const credentials = environment.credentials.filter(credential => credential.provider === named.provider)
  if (credentials.length === 0) {
    return toRefusal(
      'provider_credential_missing',
      `This environment (${environment.name}) has no credential for the provider ${named.provider}.`,
    )
  }
  return { resolved: { provider: named.provider, model: named.model, id, credentials, isKnown: isListed } }
}

/** True if the catalogue, the provider's own list or the environment's custom models name the model. */
function isKnown(
  { provider, model }: QualifiedModel,
  id: string,
  environment: ModelEnvironment<ModelSource>,
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

/** Returns the provider and model of a name; undefined if the name is unknown. */
function toCanonical(
  name: string,
  environment: ModelEnvironment<ModelSource>,
  directory: ModelDirectory,
): QualifiedModel | undefined {
  const slash = name.indexOf('/')
  if (slash > 0 && directory.hasProvider(name.slice(0, slash))) {
    const model = name.slice(slash + 1)
    return model === '' ? undefined : { provider: name.slice(0, slash), model }
  }
  const provider = findBareProvider(name, environment, directory)
  return provider === undefined ? undefined : { provider, model: name }
}

/**
 * Returns where a bare name goes: to the model's own maker if it has a credential, otherwise to the oldest credential that lists
 * the model. The catalogue tells who its maker is, since some makers host models of others too. A model too new for every
 * catalogue is taken for one of the oldest maker that lists it.
 */
function findBareProvider(
  name: string,
  environment: ModelEnvironment<ModelSource>,
  directory: ModelDirectory,
): string | undefined {
  let oldest: string | undefined
  let oldestMaker: string | undefined
  for (const credential of environment.credentials) {
    const { provider } = credential
    if (!lists(credential, name, environment, directory)) continue
    oldest ??= provider
    if (!directory.isMaker(provider)) continue
    if (directory.hasModel(provider, name)) return provider
    oldestMaker ??= provider
  }
  const catalogued = directory.providersOf(name)[0]
  return catalogued === undefined ? (oldestMaker ?? oldest) : (oldest ?? catalogued)
}

/** Returns where a bare name goes that nothing knows: the first of these providers that has a credential. */
function toOwn(
  name: string,
  { credentials }: ModelEnvironment<ModelSource>,
  ownProviders: readonly string[],
): QualifiedModel | undefined {
  if (name === '' || name.includes('/')) return undefined
  const provider = ownProviders.find(own => credentials.some(credential => credential.provider === own))
  return provider === undefined ? undefined : { provider, model: name }
}

/** True if the credential's provider lists the model. Providers that accept any name do not count. */
function lists(
  { provider, discovered }: ModelSource,
  model: string,
  environment: ModelEnvironment<ModelSource>,
  directory: ModelDirectory,
): boolean {
  if (directory.takesAnyName(provider)) return false
  return (
    directory.hasModel(provider, model) ||
    discovered.has(model) ||
    environment.customModels.has(`${provider}/${model}`)
  )
}

function forbiddenByKey(name: string): { refusal: Refusal } {
  return toRefusal('model_not_allowed', `This key may not use the model ${quote(name)}.`)
}

function forbiddenByEnvironment(name: string): { refusal: Refusal } {
  return toRefusal('model_not_allowed', `This environment does not allow the model ${quote(name)}.`)
}

function forbiddenByPlan(name: string): { refusal: Refusal } {
  return toRefusal('model_not_allowed', `The end user's plan does not allow the model ${quote(name)}.`)
}

function forbiddenTargets(name: string): { refusal: Refusal } {
  const message = `This environment and the end user's plan allow no target of the alias ${quote(name)}.`
  return toRefusal('model_not_allowed', message)
}

function toRefusal(code: Refusal['code'], message: string): { refusal: Refusal } {
  return { refusal: { code, message, param: 'model' } }
}

/** Returns a caller's text for a message: short, and as JSON, so that it cannot break a log line. */
function quote(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name
  return JSON.stringify(shown)
}
