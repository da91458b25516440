import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import { planChat } from '../steps/plan-chat.ts'
import { CHAT_BODY_LIMIT, readJson } from '../steps/read-json.ts'
import type { Facts } from '../steps/settle.ts'
import { invalid } from '../surfaces/fields.ts'
import type { ChatSurface } from '../surfaces/surface.ts'
import { openChatExchange } from './chat-exchange.ts'
import { servePlainChat } from './plain-chat.ts'
import { serveStreamedChat } from './streamed-chat.ts'

const END_USER_HEADER = 'x-rideau-end-user'
const MAX_END_USER_CHARS = 255

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
  facts.endUserId = findEndUser(x, call.endUser) ?? null
  const plan = planChat(call, body, key, environment, deps)
  const chat = openChatExchange(x, deps, surface, plan, facts)
  await (call.request.stream ? serveStreamedChat(chat) : servePlainChat(chat))
}

/** A secret key names the end user by header (contract.md §3); `user` in the body is never an identity. */
function findEndUser(x: Exchange, named: string | undefined): string | undefined {
  const header = x.req.headers[END_USER_HEADER]
  if (typeof header !== 'string' || header === '') return named
  // Never cut: two users whose ids begin alike would become one.
  if (header.length > MAX_END_USER_CHARS) throw invalid(END_USER_HEADER, 'must have 1 to 255 characters.')
  if (named !== undefined && named !== header)
    throw invalid('end_user', 'contradicts the header X-Rideau-End-User.')
  return header
}
