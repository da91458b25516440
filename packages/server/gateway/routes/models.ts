import { findModel, listModels } from '@rideau/llm/catalog'
import { findProvider } from '@rideau/llm/providers/index'
import type { CatalogModel, JsonObject } from '@rideau/llm/spec'
import { isModelAllowed } from '../../core/authorize.ts'
import { Fault } from '../../core/fault.ts'
import { resolveModel } from '../../core/resolve-model.ts'
import type { Environment, Key } from '../../core/tenancy.ts'
import type { Exchange } from '../exchange.ts'
import { modelDirectory } from '../model-directory.ts'
import { sendJson } from '../send.ts'

/** A model that this key may call, with its id as callers write it. */
interface ListedModel {
  readonly id: string
  readonly provider: string
  readonly model: CatalogModel
}

const MAX_PAGE = 100

/** `GET /v1/models`: all at once unless `limit` is given. */
export function serveModels(x: Exchange): void {
  const all = listAllowed(x)
  const { limit, after } = parsePaging(x)
  const rest = after === undefined ? all : all.filter(({ id }) => id > after)
  const page = limit === undefined ? rest : rest.slice(0, limit)
  const hasMore = page.length < rest.length
  sendJson(x, 200, {
    data: page.map(toResource),
    has_more: hasMore,
    next_cursor: hasMore ? Buffer.from(page.at(-1)?.id ?? '').toString('base64url') : null,
  })
}

/** `GET /v1/models/{model}`, with slashes raw or as `%2F`. */
export function serveModel(x: Exchange, name: string): void {
  sendJson(x, 200, toResource(findAllowed(x, name)))
}

/** `GET {prefix}/v1/models`: OpenAI's shape, never paged. */
export function serveCompatModels(x: Exchange): void {
  sendJson(x, 200, { object: 'list', data: listAllowed(x).map(toCompatResource) })
}

/** `GET {prefix}/v1/models/{model}`. */
export function serveCompatModel(x: Exchange, name: string): void {
  sendJson(x, 200, toCompatResource(findAllowed(x, name)))
}

function listAllowed(x: Exchange): ListedModel[] {
  const { key, environment } = tenantOf(x)
  const providers = new Set(environment.credentials.map(credential => credential.provider))
  return [...providers]
    .flatMap(provider =>
      listModels(provider).map(model => ({ id: `${provider}/${model.id}`, provider, model })),
    )
    .filter(
      ({ id }) =>
        isModelAllowed(key.allowedModels, id, id) && isModelAllowed(environment.allowedModels, id, id),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** One model by any name that a chat would take; what this key may not call is not found. */
function findAllowed(x: Exchange, name: string): ListedModel {
  const { key, environment } = tenantOf(x)
  const resolution = resolveModel(name, key, environment, modelDirectory)
  if ('refusal' in resolution)
    throw new Fault('model_not_found', 'No such model for this key.', { param: 'model' })
  const { provider, model } = resolution.resolved
  return { id: `${provider}/${model}`, provider, model: findModel(provider, model) ?? unlisted(model) }
}

/** A model known by name only: permissive capabilities, unknown price (contract.md §3). */
function unlisted(id: string): CatalogModel {
  return {
    id,
    display_name: id,
    context_window: null,
    max_output_tokens: null,
    capabilities: ['chat', 'tools', 'response_format', 'vision'],
    pricing: null,
  }
}

function tenantOf(x: Exchange): { key: Key; environment: Environment } {
  if (x.key === undefined || x.environment === undefined)
    throw new Error('models are listed after identification')
  return { key: x.key, environment: x.environment }
}

function toResource({ id, provider, model }: ListedModel): JsonObject {
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
    targets: null,
  }
}

function toCompatResource({ id, provider }: ListedModel): JsonObject {
  return { id, object: 'model', created: 0, owned_by: findProvider(provider)?.name ?? provider }
}

function parsePaging(x: Exchange): { limit: number | undefined; after: string | undefined } {
  const query = new URLSearchParams(x.req.url?.split('?')[1] ?? '')
  for (const name of query.keys()) {
    if (name !== 'limit' && name !== 'cursor') throw outOfForm(name, 'is not a parameter of this list.')
  }
  const limit = query.get('limit')
  if (limit !== null && !(/^[0-9]{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_PAGE)) {
    throw outOfForm('limit', `must be an integer between 1 and ${MAX_PAGE}.`)
  }
  const cursor = query.get('cursor')
  if (cursor !== null && (cursor.length < 1 || cursor.length > 512)) {
    throw outOfForm('cursor', 'must have 1 to 512 characters.')
  }
  const after = cursor === null ? undefined : Buffer.from(cursor, 'base64url').toString('utf8')
  if (after !== undefined && !after.includes('/')) {
    throw new Fault('invalid_request', 'cursor: is not one that this list gave.', { param: 'cursor' })
  }
  return { limit: limit === null ? undefined : Number(limit), after }
}

function outOfForm(param: string, message: string): Fault {
  return new Fault('request_validation_failed', `${param}: ${message}`, { param })
}
