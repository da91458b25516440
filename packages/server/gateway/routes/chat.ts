import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import { planChat } from '../steps/plan-chat.ts'
import { CHAT_BODY_LIMIT, readJson } from '../steps/read-json.ts'
import type { Facts } from '../steps/settle.ts'
import type { ChatSurface } from '../surfaces/surface.ts'
import { openChatExchange } from './chat-exchange.ts'
import { servePlainChat } from './plain-chat.ts'
import { serveStreamedChat } from './streamed-chat.ts'

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
  const plan = planChat(call, body, key, environment, deps)
  const chat = openChatExchange(x, deps, surface, plan, facts)
  await (call.request.stream ? serveStreamedChat(chat) : servePlainChat(chat))
}

/** A secret key names the end user by header (contract.md §3); `user` in the body is never an identity. */
function findEndUser(x: Exchange): string | undefined {
  const header = x.req.headers['x-rideau-end-user']
  return typeof header === 'string' && header !== '' ? header.slice(0, 255) : undefined
}
