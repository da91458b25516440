import { createHash } from 'node:crypto'
import { findEmbeddingFormat } from '@rideau/llm/embeddings/find-embedding-format'
import type { ListedAlias, ListedModel, ModelListEntry } from '@rideau/llm/formats/shared/listed-model'
import { findImageFormat } from '@rideau/llm/images/find-image-format'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Capability, CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import { listModels } from '@rideau/llm/providers/catalog'
import { findProvider } from '@rideau/llm/providers/index'
import { toListedPrices } from '@rideau/llm/providers/listed-prices'
import { modelDirectory } from '@rideau/llm/providers/model-directory'
import { nameAllowList } from '../../core/access/allow-set.ts'
import { isModelAllowed } from '../../core/access/authorize.ts'
import { Fault } from '../../core/fault.ts'
import { type AllowLists, type NameResolution, resolveName } from '../../core/models/resolve-model.ts'
import { toRefusalFault } from '../../core/refusal.ts'
import { findPlan, type PlanPolicy } from '../../core/tenancy/policies.ts'
import type { Alias, Environment } from '../../core/tenancy/tenancy.ts'
import { sendJson } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { CALL_KINDS, type CallKind, listCallKinds } from '../targets/call-kinds.ts'
import { findEnvironmentModel } from '../tenants/find-environment-model.ts'
import type { ModelLists } from './model-lists.ts'

const MAX_PAGE = 100
const MAX_CURSOR = 512

/** Models of a list that are found or encoded in one step. */
const PIECE = 250

/** `GET /v1/models`. Returns all models unless `limit` is given. */
export async function serveModels(ctx: IdentifiedContext, lists: ModelLists): Promise<void> {
  const { limit, cursor } = parsePaging(ctx)
  if (limit === undefined && cursor === undefined) return await lists.send(ctx, encodeAll)
  const all = await lists.list(ctx)
  const rest = cursor === undefined ? all : listAfter(all, cursor)
  const page = limit === undefined ? rest : rest.slice(0, limit)
  const hasMore = page.length < rest.length
  sendJson(ctx, 200, {
    data: page.map(toResource),
    has_more: hasMore,
    next_cursor: hasMore ? encodeCursor(page.at(-1)?.id ?? '') : null,
  })
}

function* encodeAll(all: readonly ModelListEntry[]): Generator<void, Buffer> {
  const pieces: string[] = []
  for (let from = 0; from < all.length; from += PIECE) {
    const piece = all.slice(from, from + PIECE).map(toResource)
    pieces.push(JSON.stringify(piece).slice(1, -1))
    yield
  }
  return Buffer.from(`{"data":[${pieces.join(',')}],"has_more":false,"next_cursor":null}`)
}

/** `GET /v1/models/{model}`. Slashes in the model may be sent raw or as `%2F`. */
export function serveModel(ctx: IdentifiedContext, name: string): void {
  sendJson(ctx, 200, toResource(getAllowed(ctx, name)))
}

/**
 * Returns the models and aliases that the credential may call, ordered by id. Ids of aliases have no slash. What this reads of
 * the caller must be part of `nameRights`.
 */
export function* collectAllowed(ctx: IdentifiedContext): Generator<void, ModelListEntry[]> {
  const { environment } = ctx
  const { key, plan } = listsOf(ctx)
  const kinds = callKindsOf(ctx)
  const listed: ModelListEntry[] = []
  for (const [index, id] of [...listIds(environment)].entries()) {
    if (index % PIECE === PIECE - 1) yield
    if (!isModelAllowed(environment.allowedModels, id, id) || !isModelAllowed(plan, id, id)) continue
    if (!isModelAllowed(key, id, id, environment.aliases)) continue
    const model = findCallable(environment, id, kinds)
    if (model !== undefined) listed.push(model)
  }
  for (const alias of environment.aliases.values()) {
    yield
    const found = findListedAlias(alias, ctx, kinds)
    if (found !== undefined) listed.push(found)
  }
  return listed.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Returns a text that names everything that `collectAllowed` reads of the caller. */
export function nameRights(ctx: IdentifiedContext): string {
  const { key, plan } = listsOf(ctx)
  const kinds = callKindsOf(ctx).map(kind => CALL_KINDS.indexOf(kind))
  return `${nameAllowList(key)} ${nameAllowList(plan)} ${kinds.join()}`
}

/**
 * Returns the model ids of all providers with a credential in the environment: those of the catalogue, of the
 * provider's own list and of custom models.
 */
function listIds(environment: Environment): Set<string> {
  const ids = new Set<string>()
  const providers = new Set<string>()
  for (const { provider, discovered } of environment.credentials) {
    if (!providers.has(provider)) for (const { id } of listModels(provider)) ids.add(`${provider}/${id}`)
    for (const model of discovered) ids.add(`${provider}/${model}`)
    providers.add(provider)
  }
  for (const id of environment.customModels.keys()) if (providers.has(providerOf(id))) ids.add(id)
  return ids
}

/** Returns undefined if every call of these kinds to the model is refused. */
function findCallable(
  environment: Environment,
  id: string,
  kinds: readonly CallKind[],
): ListedModel | undefined {
  const providerId = providerOf(id)
  const provider = findProvider(providerId)
  if (provider === undefined) return undefined
  const name = id.slice(providerId.length + 1)
  const catalogModel = findEnvironmentModel(environment, providerId, name)
  if (!kinds.some(kind => kind.canServe({ provider, catalogModel }))) return undefined
  const model = catalogModel ?? toUnlistedModel(provider, name)
  return { id, provider: providerId, owner: provider.name, model }
}

/** The lists of the key, and of the plan that a client token's end user has. */
function listsOf(ctx: IdentifiedContext): AllowLists {
  return { key: ctx.caller.allowedModels, plan: planOf(ctx)?.allowedModels ?? null }
}

function planOf({ environment, endUser }: IdentifiedContext): PlanPolicy | undefined {
  return endUser === undefined ? undefined : findPlan(environment.policies.plans, endUser.plan)
}

/** The kinds of calls that the credential may make. */
function callKindsOf(ctx: IdentifiedContext): readonly CallKind[] {
  return listCallKinds(ctx.caller, planOf(ctx))
}

/** Returns undefined if the credential may not use the alias, or if it can call no target of it in this environment. */
function findListedAlias(
  alias: Alias,
  ctx: IdentifiedContext,
  kinds: readonly CallKind[],
): ListedAlias | undefined {
  return toListedAlias(resolveName(alias.name, listsOf(ctx), ctx.environment, modelDirectory), ctx, kinds)
}

function toListedAlias(
  resolution: NameResolution,
  { environment }: IdentifiedContext,
  kinds: readonly CallKind[],
): ListedAlias | undefined {
  if (!('targets' in resolution)) return undefined
  const targets = resolution.targets.flatMap(({ resolution: targetResolution }) =>
    'resolved' in targetResolution
      ? (findCallable(environment, targetResolution.resolved.id, kinds) ?? [])
      : [],
  )
  return targets.length === 0 ? undefined : { id: resolution.alias.name, targets }
}

/**
 * Returns a model or alias by any name that a chat request accepts. Throws `model_not_allowed` if the lists of the key, the
 * environment or the plan exclude it, `model_not_found` if nothing is known about it, nothing can serve it, or the credential
 * may make no kind of call that it serves.
 */
export function getAllowed(ctx: IdentifiedContext, name: string): ModelListEntry {
  const resolution = resolveName(name, listsOf(ctx), ctx.environment, modelDirectory)
  if ('refusal' in resolution && resolution.refusal.code === 'model_not_allowed')
    throw toRefusalFault(resolution.refusal)
  const kinds = callKindsOf(ctx)
  const alias = toListedAlias(resolution, ctx, kinds)
  if (alias !== undefined) return alias
  // A name that nothing knows may be called, but there is nothing to say about it.
  if ('resolved' in resolution && resolution.resolved.isKnown) {
    const model = findCallable(ctx.environment, resolution.resolved.id, kinds)
    if (model !== undefined) return model
  }
  const message =
    'There is no model of this name, nothing here can serve it, or this credential may call no endpoint that serves it.'
  throw new Fault('model_not_found', message, { param: 'model' })
}

function providerOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

/** Describes a model known by name only: every capability of chats, embeddings and images that its provider's routes have, and no price. */
function toUnlistedModel(provider: Provider, id: string): CatalogModel {
  const capabilities: Capability[] = ['chat', 'tools', 'response_format', 'vision', 'reasoning']
  if (findEmbeddingFormat(provider) !== undefined) capabilities.push('embeddings')
  if (findImageFormat(provider) !== undefined) capabilities.push('images')
  return {
    id,
    display_name: id,
    context_window: null,
    max_output_tokens: null,
    capabilities,
    pricing: null,
  }
}

function toResource(listed: ModelListEntry): JsonObject {
  if ('targets' in listed) return toAliasResource(listed)
  const { id, provider, model } = listed
  const { pricing } = model
  return {
    id,
    object: 'model',
    kind: 'model',
    provider,
    display_name: model.display_name,
    context_window: model.context_window,
    max_output_tokens: model.max_output_tokens,
    capabilities: [...model.capabilities],
    pricing:
      pricing === null
        ? null
        : {
            input_usd_per_mtok: pricing.input,
            output_usd_per_mtok: pricing.output,
            cached_input_usd_per_mtok: pricing.cache_read ?? null,
          },
    ...toPrices(model),
    targets: null,
  }
}

function toPrices(model: CatalogModel): JsonObject {
  const { image_pricing: image, audio_pricing: audio, rerank_pricing: rerank } = toListedPrices(model)
  return {
    image_pricing: image && { ...image },
    audio_pricing: audio && { ...audio },
    rerank_pricing: rerank && { ...rerank },
  }
}

/** An alias has every capability that one of its targets has, since a request goes to a target that can serve it. */
function toAliasResource({ id, targets }: ListedAlias): JsonObject {
  return {
    id,
    object: 'model',
    kind: 'alias',
    provider: null,
    display_name: id,
    context_window: null,
    max_output_tokens: null,
    capabilities: [...new Set(targets.flatMap(({ model }) => model.capabilities))],
    pricing: null,
    image_pricing: null,
    audio_pricing: null,
    rerank_pricing: null,
    targets: targets.map(target => target.id),
  }
}

function parsePaging(ctx: IdentifiedContext): { limit: number | undefined; cursor: string | undefined } {
  const query = new URLSearchParams(ctx.req.url?.split('?')[1] ?? '')
  const limit = query.get('limit')
  if (limit !== null && !(/^[0-9]{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_PAGE)) {
    throw invalidParam('limit', `must be an integer between 1 and ${MAX_PAGE}.`)
  }
  const cursor = query.get('cursor') ?? undefined
  if (cursor !== undefined && (cursor.length < 1 || cursor.length > MAX_CURSOR)) {
    throw invalidParam('cursor', `must have 1 to ${MAX_CURSOR} characters.`)
  }
  return { limit: limit === null ? undefined : Number(limit), cursor }
}

/** Prefixes of a cursor's text, which tell cursors of this list from other text: of an id, and of the digest of a long one. */
const CURSOR_MARK = 'models:'
const DIGEST_MARK = 'models#'

function encodeCursor(id: string): string {
  const cursor = toCursor(CURSOR_MARK + id)
  return cursor.length <= MAX_CURSOR ? cursor : toCursor(DIGEST_MARK + digestOf(id))
}

const toCursor = (text: string): string => Buffer.from(text).toString('base64url')
const digestOf = (id: string): string => createHash('sha256').update(id).digest('base64url')

/** Returns the part of the list that follows the page of this `next_cursor`. */
function listAfter(all: readonly ModelListEntry[], cursor: string): readonly ModelListEntry[] {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  if (toCursor(text) === cursor) {
    const position = text.slice(CURSOR_MARK.length)
    if (text.startsWith(CURSOR_MARK)) return all.filter(({ id }) => id > position)
    const last = text.startsWith(DIGEST_MARK) ? all.findIndex(({ id }) => digestOf(id) === position) : -1
    if (last >= 0) return all.slice(last + 1)
  }
  throw new Fault('invalid_request', 'cursor: must be a next_cursor that this list returned.', {
    param: 'cursor',
  })
}

function invalidParam(param: string, message: string): Fault {
  return new Fault('request_validation_failed', `${param}: ${message}`, { param })
}
