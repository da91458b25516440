import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { countInput } from '../billing/count-input.ts'
import { planChat } from '../plan/plan-chat.ts'
import { refusePassThrough } from '../plan/refuse-pass-through.ts'
import { withFormatHeaders } from '../plan/with-format-headers.ts'
import { openRecord } from '../records/open-record.ts'
import { checkInnerTexts } from '../request/check-inner-texts.ts'
import type { Facts } from '../request/facts.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteModel } from '../request/note-model.ts'
import { readJson } from '../request/read-json.ts'
import type { RequestContext } from '../request/request-context.ts'
import { admitChat } from './admit-chat.ts'
import { openChatCall } from './chat-call.ts'
import { findLimits } from './find-limits.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { servePlainChat } from './plain-chat.ts'
import { serveStreamedChat } from './streamed-chat.ts'

/**
 * The body of `POST /v1/chat` and of every other surface's chat: read, plan, call, relay, settle. `rest` is the model where
 * the format names it in the path, else empty.
 */
export async function serveChat(
  ctx: RequestContext,
  facts: Facts,
  server: ChatServer,
  rest: string,
  deps: PipelineDeps,
): Promise<void> {
  const { caller, environment } = ctx
  if (caller === undefined || environment === undefined)
    throw new Error('chat is served after identification only')
  const read = await readJson(ctx, server.id, CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  facts.requestBody = read.source.bytes
  noteModel(facts, rest === '' ? read.value.model : rest)
  const isEndUser = caller.kind === 'client_token'
  const call = server.parse(read.value, { source: read.source, pathModel: rest, isEndUser })
  const checking = checkInnerTexts(ctx, call.request.messages)
  if (checking !== undefined) await checking
  const body = call.shape === undefined ? read : { ...read, source: { ...read.source, format: call.shape } }
  facts.isStream = call.request.stream
  facts.metadata = call.metadata
  const naming = nameEndUser(ctx, call.endUser, deps)
  if (naming !== undefined) await naming
  refusePassThrough(caller, environment, call.findings)
  const limits = findLimits(ctx, deps)
  const sent = withFormatHeaders(ctx, body, server, caller, environment)
  const planned = planChat(call, sent.source, caller, environment, limits, deps)
  const admitting = admitChat(ctx, planned, limits, deps)
  const plan = admitting instanceof Promise ? await admitting : admitting
  const chat = openChatCall(ctx, deps, server, plan, facts)
  openRecord(ctx, facts, plan.held, () => countInput(plan.call.request), deps)
  await (call.request.stream ? serveStreamedChat(chat) : servePlainChat(chat))
}
