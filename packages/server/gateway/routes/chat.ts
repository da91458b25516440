import { CLIENT_DIALECTS } from '../clients.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import { readJson, CHAT_BODY_LIMIT } from '../steps/read-json.ts'
import { type ChatPlan, planChat } from '../steps/plan-chat.ts'
import type { Facts } from '../steps/settle.ts'
import type { Answered, ChatSurface } from '../surfaces/surface.ts'
import { servePlainChat } from './plain-chat.ts'
import { serveStreamedChat } from './streamed-chat.ts'

/** One chat request with everything that was decided about it. */
export interface ChatExchange {
  readonly x: Exchange
  readonly deps: GatewayDeps
  readonly surface: ChatSurface
  readonly plan: ChatPlan
  readonly facts: Facts
  readonly answered: Answered
}

/** Milliseconds for one try where the caller names none. */
export const DEFAULT_TIMEOUT_MS = 300_000

/** The body of `POST /v1/chat` and of the compat surface's chat completions: read, plan, call, relay, settle. */
export async function serveChat(
  x: Exchange,
  facts: Facts,
  surface: ChatSurface,
  deps: GatewayDeps,
): Promise<void> {
  const { key, environment } = x
  if (key === undefined || environment === undefined)
    throw new Error('chat is served after identification only')
  const body = await readJson(x, surface.id, CHAT_BODY_LIMIT, deps.bodyTimeoutMs)
  facts.requestBody = body.source.bytes
  const model = body.value.model
  facts.modelRequested = typeof model === 'string' ? model.slice(0, 256) : null
  const call = surface.parse(body.value, body.source)
  facts.isStream = call.request.stream
  facts.metadata = call.metadata
  facts.endUserId = findEndUser(x) ?? call.endUser ?? null
  const plan = planChat(call, body, key, environment)
  facts.provider = plan.provider.id
  facts.model = `${plan.provider.id}/${plan.model}`
  facts.catalogModel = plan.catalogModel
  facts.isSandbox = plan.provider.sandbox === true
  const chat: ChatExchange = {
    x,
    deps,
    surface,
    plan,
    facts,
    answered: toAnswered(x, plan, call.request.includeUsage),
  }
  await (call.request.stream ? serveStreamedChat(chat) : servePlainChat(chat))
}

function toAnswered(x: Exchange, plan: ChatPlan, includeUsage: boolean): Answered {
  return {
    requestId: x.requestId,
    created: Math.floor(x.arrivedAt / 1000),
    model: `${plan.provider.id}/${plan.model}`,
    provider: plan.provider.id,
    isSandbox: plan.provider.sandbox === true,
    includeUsage,
    rewritesUsage: plan.provider.openai?.completionExcludesReasoning === true,
  }
}

/** A secret key names the end user by header (contract.md §3); `user` in the body is never an identity. */
function findEndUser(x: Exchange): string | undefined {
  const header = x.req.headers['x-rideau-end-user']
  return typeof header === 'string' && header !== '' ? header.slice(0, 255) : undefined
}

/** How this plan's provider is reached. */
export function attemptOptions(chat: ChatExchange): {
  transport: GatewayDeps['http']
  dialect: (typeof CLIENT_DIALECTS)[keyof typeof CLIENT_DIALECTS]
  timeoutMs: number
} {
  const { plan, deps } = chat
  return {
    transport: plan.provider.sandbox === true ? deps.sandbox : deps.http,
    dialect: CLIENT_DIALECTS[plan.provider.dialect],
    timeoutMs: plan.call.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  }
}

/** Headers of a 200, as name, value, name, value: an allow-list of our own, nothing of a provider's. */
export function answerHeaders(chat: ChatExchange, contentType: string): string[] {
  const { x, plan, answered } = chat
  const headers = [
    'Content-Type',
    contentType,
    'X-Request-Id',
    x.requestId,
    'X-Rideau-Provider',
    answered.provider,
    'X-Rideau-Model',
    encodeHeader(answered.model),
    'X-Rideau-Attempts',
    String(Math.max(1, x.attempts.length)),
  ]
  if (plan.dropped.length > 0) headers.push('X-Rideau-Dropped-Params', plan.dropped.join(', '))
  return headers
}

/** A model's name may hold what a header may not. */
function encodeHeader(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURI(text)
}
