import { EMBEDDING_ROUTES, type EmbeddingRoute } from '@rideau/llm/embeddings/served/embedding-routes'
import type { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { NATIVE_MOUNT } from '@rideau/llm/formats/native/format'
import type { ChatRoute, ModelRoute, ServedFormat } from '@rideau/llm/formats/shared/format'
import { OPENAI_MOUNT } from '@rideau/llm/formats/shared/reading/openai-mount'
import { IMAGE_ROUTES, type ImageRoute } from '@rideau/llm/images/served/image-routes'
import { MAX_MODEL_NAME } from '@rideau/llm/request/bounded-text'
import { RERANK_ROUTES, type RerankRoute } from '@rideau/llm/rerank/rerank-routes'
import type { Need } from '../core/access/authorize.ts'
import type { LoggedEndpoint } from '../core/records/logged-endpoints.ts'
import type { GatewayDeps } from './deps.ts'
import { readTokenCount } from './pipeline/count-tokens.ts'
import { readEmbeddings } from './pipeline/embeddings.ts'
import { readImages, readOtherImages } from './pipeline/images.ts'
import { type ReadModelCall, serveModelCall } from './pipeline/model-call.ts'
import { readChat } from './pipeline/read-chat.ts'
import { readRerank } from './pipeline/rerank.ts'
import { readSpeech } from './pipeline/speech.ts'
import { readTranscription } from './pipeline/transcriptions.ts'
import { type Prefixes, prefixOf } from './request/prefixes.ts'
import type { IdentifiedContext, RouteInfo } from './request/request-context.ts'
import { serveCancel } from './routes/cancel.ts'
import { serveClientTokens } from './routes/client-tokens.ts'
import { serveDeviceAssert, serveDeviceAttest, serveDeviceChallenge } from './routes/device-routes.ts'
import { serveFeedback } from './routes/feedback.ts'
import { serveFormatModel } from './routes/format-models.ts'
import { ModelLists, toEncodeList } from './routes/model-lists.ts'
import { collectAllowed, nameRights, serveModel, serveModels } from './routes/models.ts'
import {
  type CallKind,
  CHAT,
  EMBEDDINGS,
  IMAGES,
  RERANK,
  SPEECH,
  TRANSCRIPTION,
} from './targets/call-kinds.ts'

/** A route of the data plane. Identification checks its `need`, so no route can omit one. */
export interface Route extends RouteInfo {
  readonly method: 'GET' | 'POST'
  /** The names that `*` may stand for. Absent: all. Which right a request needs must be known before its body is read. */
  readonly models?: RegExp
  /** The query parameters of a native route, which refuses others. Routes of other formats ignore what they do not know. */
  readonly query?: readonly string[]
  serve(ctx: IdentifiedContext, rest: string, deps: GatewayDeps): void | Promise<void>
}

const MINT: Need = { endpoint: 'client_tokens', scope: null, makes: 'token' }
const DEVICE: Need = { endpoint: 'device', scope: null, makes: 'token' }
const CHALLENGE: Need = { endpoint: 'device', scope: null, makes: 'challenge' }
/** Listing models and canceling need no scope. */
const ANY: Need = { endpoint: null, scope: null }

/** Returns every route of the data plane: those of the registered formats and the native ones. */
export function listRoutes(formats: FormatRegistry, prefixes: Prefixes): readonly Route[] {
  const openai = prefixOf(OPENAI_MOUNT, prefixes)
  const lists = new ModelLists({ collect: collectAllowed, nameRights })
  return [
    // Before the chats: of two routes with one path, the one for fewer models counts.
    ...EMBEDDING_ROUTES.map(route => embeddings(route, prefixes)),
    ...IMAGE_ROUTES.map(route => otherImages(route, prefixes)),
    ...formats.served.flatMap(served => listFormatRoutes(served, prefixOf(served.mount, prefixes), lists)),
    ...RERANK_ROUTES.map(route => rerank(route, prefixes)),
    images(`${openai}/v1/images/generations`, 'generations'),
    images(`${openai}/v1/images/edits`, 'edits'),
    audio(`${openai}/v1/audio/transcriptions`, readTranscription('transcriptions'), TRANSCRIPTION),
    audio(`${openai}/v1/audio/translations`, readTranscription('translations'), TRANSCRIPTION),
    audio(`${openai}/v1/audio/speech`, readSpeech, SPEECH),
    {
      ...plainRoute('GET', '/v1/models', 'models', ctx => serveModels(ctx, lists)),
      query: ['limit', 'cursor'],
    },
    plainRoute('GET', '/v1/models/*', 'models', (ctx, rest) => serveModel(ctx, rest)),
    {
      ...plainRoute('POST', '/v1/feedback', 'feedback', (ctx, _rest, deps) => serveFeedback(ctx, deps)),
      need: { endpoint: 'feedback', scope: 'feedback' },
    },
    mintRoute('/v1/client-tokens', 'client_tokens', MINT, serveClientTokens),
    mintRoute('/v1/device/challenge', 'device_challenge', CHALLENGE, serveDeviceChallenge),
    mintRoute('/v1/device/attest', 'device_attest', DEVICE, serveDeviceAttest),
    mintRoute('/v1/device/assert', 'device_assert', DEVICE, serveDeviceAssert),
    {
      ...plainRoute('POST', '/v1/requests/*/cancel', 'cancel', (ctx, rest, deps) =>
        serveCancel(ctx, rest, deps),
      ),
      needsPermit: false,
    },
  ]
}

function listFormatRoutes(
  { mount, chat, counts = [], models = [] }: ServedFormat,
  prefix: string,
  lists: ModelLists,
): Route[] {
  return [
    ...chat.map(route => ({
      ...modelRoute(
        prefix + route.path,
        { endpoint: 'chat', mount, need: CHAT.need },
        readChat(route.server),
      ),
      serve: serveChat(route),
    })),
    ...counts.map(({ path, count }) =>
      modelRoute(prefix + path, { endpoint: 'count_tokens', mount, need: CHAT.need }, readTokenCount(count)),
    ),
    ...models.map(route => ({
      ...plainRoute(
        route.kind === 'named in body' ? 'POST' : 'GET',
        prefix + route.path,
        route.kind === 'fixed' ? route.endpoint : 'models',
        serveModelRoute(route, lists),
      ),
      mount,
    })),
  ]
}

function serveChat({ server, whenQuery }: ChatRoute): Route['serve'] {
  const read = readChat(server)
  if (whenQuery === undefined) return (ctx, model, deps) => serveModelCall(ctx, read, model, deps)
  const readOther = readChat(whenQuery.server)
  return (ctx, model, deps) => {
    const query = new URLSearchParams(ctx.req.url?.split('?')[1] ?? '')
    const isOther = query.get(whenQuery.name) === whenQuery.value
    return serveModelCall(ctx, isOther ? readOther : read, model, deps)
  }
}

/** A format's list is never paged. */
function serveModelRoute(route: ModelRoute, lists: ModelLists): Route['serve'] {
  if (route.kind !== 'list')
    return (ctx, name, { bodyTimeoutMs }) => serveFormatModel(ctx, route, name, bodyTimeoutMs)
  const encode = toEncodeList(models => route.encode(models))
  return ctx => lists.send(ctx, encode)
}

function embeddings({ mount, path, server, models }: EmbeddingRoute, prefixes: Prefixes): Route {
  const info = { endpoint: 'embeddings' as const, mount, need: EMBEDDINGS.need }
  const route = modelRoute(prefixOf(mount, prefixes) + path, info, readEmbeddings(server))
  return models === undefined ? route : { ...route, models }
}

function rerank({ mount, path, server }: RerankRoute, prefixes: Prefixes): Route {
  const info = { endpoint: 'rerank' as const, mount, need: RERANK.need }
  return modelRoute(prefixOf(mount, prefixes) + path, info, readRerank(server))
}

/** A chat's path in another format, with a model whose answers are images. */
function otherImages(route: ImageRoute, prefixes: Prefixes): Route {
  const { mount, path, models } = route
  const info = { endpoint: 'images' as const, mount, need: IMAGES.need }
  return { ...modelRoute(prefixOf(mount, prefixes) + path, info, readOtherImages(route)), models }
}

/** OpenAI's own image routes. */
function images(path: string, kind: 'generations' | 'edits'): Route {
  return modelRoute(path, { endpoint: 'images', mount: OPENAI_MOUNT, need: IMAGES.need }, readImages(kind))
}

/** Only OpenAI's format has audio routes. */
function audio(path: string, read: ReadModelCall, { need }: CallKind): Route {
  return modelRoute(path, { endpoint: 'audio', mount: OPENAI_MOUNT, need }, read)
}

/** Returns a route that can call a provider. It is metered and runs the pipeline. */
function modelRoute(
  path: string,
  info: Omit<RouteInfo, 'path' | 'isMetered' | 'needsPermit'> & { readonly endpoint: LoggedEndpoint },
  read: ReadModelCall,
): Route {
  const serve: Route['serve'] = (ctx, model, deps) => serveModelCall(ctx, read, model, deps)
  return { method: 'POST', path, ...info, isMetered: true, needsPermit: true, serve }
}

/** Returns a route that calls no provider and needs no scope. */
function plainRoute(method: Route['method'], path: string, endpoint: string, serve: Route['serve']): Route {
  return {
    method,
    path,
    endpoint,
    mount: NATIVE_MOUNT,
    need: ANY,
    isMetered: false,
    needsPermit: true,
    serve,
  }
}

/** Returns a route on the way to a client token. */
function mintRoute(
  path: string,
  endpoint: string,
  need: Need,
  serve: (ctx: IdentifiedContext, deps: GatewayDeps) => Promise<void>,
): Route {
  return { ...plainRoute('POST', path, endpoint, (ctx, _rest, deps) => serve(ctx, deps)), need }
}

export interface RouteMatch {
  readonly route: Route
  /** The part of the path that matched `*`, decoded once. undefined: its percent-encoding is malformed. */
  readonly rest: string | undefined
}

/** Returns the route of a method and raw path. */
export type Router = (method: string, path: string) => RouteMatch | undefined

export function openRouter(routes: readonly Route[]): Router {
  const whole = new Map<string, RouteMatch>()
  const open: { route: Route; before: string; after: string }[] = []
  for (const route of routes) {
    const [before, after] = route.path.split('*')
    if (after === undefined) whole.set(`${route.method} ${route.path}`, { route, rest: '' })
    else open.push({ route, before: before as string, after })
  }
  return (method, path) => {
    const found = whole.get(`${method} ${path}`)
    if (found !== undefined) return found
    for (const { route, before, after } of open) {
      if (method !== route.method || !path.startsWith(before) || !path.endsWith(after)) continue
      if (path.length <= before.length + after.length) continue
      const rest = decode(path.slice(before.length, path.length - after.length))
      const { models } = route
      if (models === undefined || (rest !== undefined && isNamed(models, rest))) return { route, rest }
    }
    return undefined
  }
}

/** A longer text is no model's name, and would take long to compare. */
function isNamed(models: RegExp, name: string): boolean {
  return name.length <= MAX_MODEL_NAME && models.test(name)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
