import {
  compatEmbeddings,
  type EmbeddingServer,
  nativeEmbeddings,
} from '@rideau/llm/embeddings/embedding-server'
import { anthropicCount, anthropicServer } from '@rideau/llm/formats/anthropic-messages/server/server'
import { converseServer, converseStreamServer } from '@rideau/llm/formats/bedrock-converse/server/server'
import { cohereServer } from '@rideau/llm/formats/cohere-v2/server/server'
import {
  geminiCount,
  geminiEvents,
  geminiList,
  geminiServer,
} from '@rideau/llm/formats/gemini-content/server/server'
import { nativeServer } from '@rideau/llm/formats/native/server/server'
import { ollamaServer } from '@rideau/llm/formats/ollama-chat/server/server'
import { openAiChatServer } from '@rideau/llm/formats/openai-chat/server/server'
import { responsesServer } from '@rideau/llm/formats/openai-responses/server/server'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { Need } from '../core/authorize.ts'
import type { GatewayDeps } from './deps.ts'
import { readChat } from './pipeline/chat.ts'
import { readTokenCount } from './pipeline/count-tokens.ts'
import { readEmbeddings } from './pipeline/embeddings.ts'
import { readImages } from './pipeline/images.ts'
import { type ReadCall, serveModelCall } from './pipeline/model-call.ts'
import type { Prefixes } from './request/prefixes.ts'
import type { IdentifiedContext, RouteInfo } from './request/request-context.ts'
import { serveAnthropicModel, serveAnthropicModels } from './routes/anthropic-models.ts'
import { serveCancel } from './routes/cancel.ts'
import { serveFeedback } from './routes/feedback.ts'
import { serveGeminiModel, serveGeminiModels } from './routes/gemini-models.ts'
import { serveCompatModel, serveCompatModels, serveModel, serveModels } from './routes/models.ts'
import {
  serveOllamaModel,
  serveOllamaRunning,
  serveOllamaTags,
  serveOllamaVersion,
} from './routes/ollama-models.ts'

/** A route of the data plane: who may call it, and what serves it. */
export interface Route extends RouteInfo {
  readonly method: 'GET' | 'POST'
  /** Whole, or with one `*` for the part that varies; matched against the raw path, byte for byte. */
  readonly path: string
  serve(ctx: IdentifiedContext, rest: string, deps: GatewayDeps): void | Promise<void>
}

/** As the log names them. */
const NATIVE: RouteInfo['mount'] = 'native'
const OPENAI: RouteInfo['mount'] = 'openai'
const ANTHROPIC: RouteInfo['mount'] = 'anthropic'
const GEMINI: RouteInfo['mount'] = 'gemini'
const COHERE: RouteInfo['mount'] = 'cohere'
const BEDROCK: RouteInfo['mount'] = 'bedrock'
const OLLAMA: RouteInfo['mount'] = 'ollama'

const CHAT: Need = { endpoint: 'chat', scope: 'ai.chat' }
const EMBED: Need = { endpoint: 'embeddings', scope: 'ai.embed' }
const IMAGES: Need = { endpoint: 'images', scope: 'ai.images' }
/** Models and cancel need no scope (contract.md §3). */
const ANY: Need = { endpoint: null, scope: null }

/** Every route of the data plane. A route without a need cannot be written. */
export function listRoutes(prefixes: Prefixes): readonly Route[] {
  const compat = `${prefixes.openai}/v1`
  const anthropic = `${prefixes.anthropic}/v1`
  return [
    chat('/v1/chat', NATIVE, nativeServer),
    chat(`${compat}/chat/completions`, OPENAI, openAiChatServer),
    chat(`${compat}/responses`, OPENAI, responsesServer),
    chat(`${anthropic}/messages`, ANTHROPIC, anthropicServer),
    {
      ...chat(`${anthropic}/messages/count_tokens`, ANTHROPIC, anthropicServer),
      endpoint: 'count_tokens',
      serve: serve(readTokenCount(anthropicCount)),
    },
    chat(`${prefixes.cohere}/v2/chat`, COHERE, cohereServer),
    chat(`${prefixes.bedrock}/model/*/converse`, BEDROCK, converseServer),
    chat(`${prefixes.bedrock}/model/*/converse-stream`, BEDROCK, converseStreamServer),
    embeddings('/v1/embeddings', NATIVE, nativeEmbeddings),
    embeddings(`${compat}/embeddings`, OPENAI, compatEmbeddings),
    // Images exist on the compat surface only (spec.md).
    images(`${compat}/images/generations`, 'generations'),
    images(`${compat}/images/edits`, 'edits'),
    free('GET', '/v1/models', 'models', ctx => serveModels(ctx)),
    free('GET', '/v1/models/*', 'models', (ctx, rest) => serveModel(ctx, rest)),
    free('GET', `${compat}/models`, 'models', ctx => serveCompatModels(ctx)),
    free('GET', `${compat}/models/*`, 'models', (ctx, rest) => serveCompatModel(ctx, rest)),
    under(
      ANTHROPIC,
      free('GET', `${anthropic}/models`, 'models', ctx => serveAnthropicModels(ctx)),
    ),
    under(
      ANTHROPIC,
      free('GET', `${anthropic}/models/*`, 'models', (ctx, rest) => serveAnthropicModel(ctx, rest)),
    ),
    ...GEMINI_VERSIONS.flatMap(version => listGemini(`${prefixes.gemini}/${version}/models`)),
    ...listOllama(`${prefixes.ollama}/api`),
    {
      ...free('POST', '/v1/feedback', 'feedback', (ctx, _rest, deps) => serveFeedback(ctx, deps)),
      need: { endpoint: 'feedback', scope: 'feedback' },
    },
    free('POST', '/v1/requests/*/cancel', 'cancel', (ctx, rest, deps) => serveCancel(ctx, rest, deps)),
  ]
}

function chat(path: string, mount: RouteInfo['mount'], format: ChatServer): Route {
  return modelRoute(path, { endpoint: 'chat', mount, need: CHAT }, readChat(format))
}

function embeddings(path: string, mount: RouteInfo['mount'], format: EmbeddingServer): Route {
  return modelRoute(path, { endpoint: 'embeddings', mount, need: EMBED }, readEmbeddings(format))
}

function images(path: string, kind: 'generations' | 'edits'): Route {
  return modelRoute(path, { endpoint: 'images', mount: OPENAI, need: IMAGES }, readImages(kind))
}

/** Reaches a provider: it is metered, and goes through the pipeline. */
function modelRoute(path: string, info: Omit<RouteInfo, 'isMetered'>, read: ReadCall): Route {
  return { method: 'POST', path, ...info, isMetered: true, serve: serve(read) }
}

function serve(read: ReadCall): Route['serve'] {
  return (ctx, pathModel, deps) => serveModelCall(ctx, read, pathModel, deps)
}

/** Can reach no provider, and needs no scope. */
function free(method: Route['method'], path: string, endpoint: string, serve: Route['serve']): Route {
  return { method, path, endpoint, mount: NATIVE, need: ANY, isMetered: false, serve }
}

/** Failures take the surface's shape there. */
function under(mount: RouteInfo['mount'], route: Route): Route {
  return { ...route, mount }
}

/** Google's clients ask for one of these; nothing that is served here differs between them. */
const GEMINI_VERSIONS = ['v1beta', 'v1', 'v1alpha']

const readEvents = readChat(geminiEvents)
const readList = readChat(geminiList)

/** The model stands in the path, the method behind it. */
function listGemini(models: string): Route[] {
  return [
    chat(`${models}/*:generateContent`, GEMINI, geminiServer),
    {
      ...chat(`${models}/*:streamGenerateContent`, GEMINI, geminiEvents),
      serve: (ctx, rest, deps) =>
        serveModelCall(ctx, isAskedForEvents(ctx) ? readEvents : readList, rest, deps),
    },
    {
      ...chat(`${models}/*:countTokens`, GEMINI, geminiServer),
      endpoint: 'count_tokens',
      serve: serve(readTokenCount(geminiCount)),
    },
    under(
      GEMINI,
      free('GET', models, 'models', ctx => serveGeminiModels(ctx)),
    ),
    under(
      GEMINI,
      free('GET', `${models}/*`, 'models', (ctx, rest) => serveGeminiModel(ctx, rest)),
    ),
  ]
}

function listOllama(api: string): Route[] {
  const show: Route['serve'] = (ctx, _rest, deps) => serveOllamaModel(ctx, deps)
  return [
    chat(`${api}/chat`, OLLAMA, ollamaServer),
    under(
      OLLAMA,
      free('GET', `${api}/tags`, 'models', ctx => serveOllamaTags(ctx)),
    ),
    under(OLLAMA, free('POST', `${api}/show`, 'models', show)),
    under(
      OLLAMA,
      free('GET', `${api}/ps`, 'models', ctx => serveOllamaRunning(ctx)),
    ),
    under(
      OLLAMA,
      free('GET', `${api}/version`, 'version', ctx => serveOllamaVersion(ctx)),
    ),
  ]
}

function isAskedForEvents({ req }: IdentifiedContext): boolean {
  return new URLSearchParams(req.url?.split('?')[1] ?? '').get('alt') === 'sse'
}

export interface RouteMatch {
  readonly route: Route
  /** What stands in the place of `*`, decoded once. */
  readonly rest: string
}

/** Finds the route of a method and raw path. */
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
      const rest = decode(path.slice(before.length, path.length - after.length))
      if (rest !== undefined && rest !== '' && path.length > before.length + after.length)
        return { route, rest }
    }
    return undefined
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
