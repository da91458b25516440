import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { withFormatHeaders } from '../plan/with-format-headers.ts'
import { checkInnerTexts } from '../request/check-inner-texts.ts'
import { noteModel } from '../request/note-model.ts'
import { noteUser } from '../request/note-user.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { ReceivedChat } from './chat-call.ts'
import type { ReadCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { PlainChat } from './plain-chat.ts'
import { StreamedChat } from './streamed-chat.ts'

/** Serves `POST /v1/chat` and the chat routes of all formats. */
export function readChat(server: ChatServer): ReadCall {
  return async (ctx, pathModel, deps) => {
    const received = await receiveChat(ctx, server, server.parse, pathModel, deps)
    const { request, metadata } = received.parsed
    ctx.recordFields.isStream = request.stream
    ctx.recordFields.metadata = metadata
    noteUser(ctx.recordFields, request.user)
    return request.stream ? new StreamedChat(ctx, received, deps) : new PlainChat(ctx, received, deps)
  }
}

/** Reads, parses and checks a chat body. */
export async function receiveChat(
  ctx: IdentifiedContext,
  server: ChatServer,
  parse: ChatServer['parse'],
  pathModel: string,
  deps: PipelineDeps,
): Promise<ReceivedChat> {
  const { value, bytes, fields } = await readJson(ctx, CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  ctx.recordFields.requestBody = bytes
  noteModel(ctx.recordFields, pathModel === '' ? value.model : pathModel)
  const isEndUser = ctx.caller.kind === 'client_token'
  const parsed = parse(value, { source: { format: server.id, bytes, value, fields }, pathModel, isEndUser })
  const checking = checkInnerTexts(ctx, parsed.request.messages)
  if (checking !== undefined) await checking
  const source = { format: parsed.shape ?? server.id, bytes, value, fields }
  return { server, parsed, source: withFormatHeaders(ctx, source, server) }
}
