import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import { raisesWindow } from '@rideau/llm/formats/shared/requests/long-context'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import { readSettings } from '@rideau/llm/formats/shared/requests/read-settings'
import type { ChatServer, OpenBody } from '@rideau/llm/formats/shared/server-format'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { spliceObject } from '@rideau/llm/json/splice'
import { type SentBody, toSentJson } from '@rideau/llm/json/unwritten-json'
import type { FormatId } from '@rideau/llm/request/format-id'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { WRITTEN_REQUEST_BYTES, writeBody } from '../../http/body/write-body.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { measureAudio } from '../billing/heard-tokens.ts'
import { assertInnerTexts } from '../request/assert-inner-texts.ts'
import { assertSchemaSize } from '../request/assert-schema-size.ts'
import { noteModel } from '../request/note-model.ts'
import { noteUser } from '../request/note-user.ts'
import { type JsonBody, parseBody, readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { searchAudio } from '../targets/check-audio-price.ts'
import { searchUnmeasured } from '../targets/find-unmeasured.ts'
import { mayForward, withFormatHeaders } from '../targets/with-format-headers.ts'
import type { ReceivedChat } from './chat-call.ts'
import type { ReadModelCall } from './model-call.ts'
import { ModelLoadCall } from './model-load-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { PlainChat } from './plain-chat.ts'
import { StreamedChat } from './streamed-chat.ts'

/** Serves `POST /v1/chat` and the chat routes of all formats. */
export function readChat(server: ChatServer): ReadModelCall {
  return async (ctx, pathModel, deps) => {
    const received = await receiveChat(
      ctx,
      { server, parse: server.parse, open: server.open },
      pathModel,
      deps,
    )
    const { request, metadata, loggedUser } = received.parsed
    ctx.recordFields.isStream = request.stream
    ctx.recordFields.metadata = metadata
    noteUser(ctx.recordFields, request.user ?? loggedUser)
    if (received.parsed.asksOnly !== undefined && server.encodeModelLoad !== undefined) {
      return new ModelLoadCall(ctx, received, server.encodeModelLoad, deps)
    }
    return request.stream ? new StreamedChat(ctx, received, deps) : new PlainChat(ctx, received, deps)
  }
}

/** How a body is read: as the server says, unless a route differs from it. */
export interface ChatReading extends Pick<ChatServer, 'parse'> {
  readonly server: ChatServer
  readonly open?: OpenBody | undefined
}

/** Reads, parses and checks a chat body. */
export async function receiveChat(
  ctx: IdentifiedContext,
  { server, parse, open }: ChatReading,
  pathModel: string,
  deps: PipelineDeps,
): Promise<ReceivedChat> {
  const body = await readJson(ctx, CHAT_BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  ctx.recordFields.requestBody = body.bytes
  noteModel(ctx.recordFields, pathModel === '' ? body.value.model : pathModel)
  const received = { server, format: server.id, body, headers: undefined }
  if (open === undefined) return parseChat(ctx, received, parse, pathModel)
  let embedded = open(body.value, pathModel)
  if ('bytes' in embedded) {
    const bytes = await writeWhole(ctx, embedded.bytes)
    embedded = embedded.read((await parseBody(ctx, bytes)).value)
  }
  // Written anew, so that what is checked is what is sent.
  const inner = await parseBody(ctx, await writeWhole(ctx, toSentJson(embedded.value)))
  return parseChat(
    ctx,
    { server, format: embedded.format, body: inner, headers: embedded.headers },
    embedded.parse,
    pathModel,
  )
}

interface ChatBody {
  readonly server: ChatServer
  readonly format: FormatId
  readonly body: JsonBody
  readonly headers: SourceBody['headers'] | undefined
}

async function parseChat(
  ctx: IdentifiedContext,
  { server, format, body, headers }: ChatBody,
  parse: ChatServer['parse'],
  pathModel: string,
): Promise<ReceivedChat> {
  const endUser = body.value.end_user
  const namesEndUser = format !== 'native' && body.fields.has('end_user')
  const { value, bytes, fields } = namesEndUser ? await withoutEndUser(ctx, body) : body
  const isEndUser = ctx.caller.kind === 'client_token'
  const parsed = parse(value, { source: { format, bytes, value, fields }, pathModel, isEndUser })
  if (ctx.isLong) assertSchemaSize(parsed)
  const checking = assertInnerTexts(ctx, parsed.request.messages)
  if (checking !== undefined) await checking
  if (ctx.isLong) await runSteps(examine(parsed), ctx, () => ctx.stopped)
  const plain: SourceBody = { format: parsed.shape ?? format, bytes, value, fields }
  const source =
    headers !== undefined && mayForward(ctx) ? { ...plain, headers } : withFormatHeaders(ctx, plain, server)
  noteSettings(parsed.findings, source)
  return { server, parsed, source, endUser }
}

/** Writes what is parsed next. Throws if the request was stopped. */
async function writeWhole(ctx: IdentifiedContext, body: SentBody): Promise<Buffer> {
  const bytes = await writeBody(body, ctx, () => ctx.stopped !== undefined, WRITTEN_REQUEST_BYTES)
  ctx.assertNotStopped()
  return bytes
}

/** Finds in steps what the selection of targets would otherwise look for at once. */
function* examine(parsed: ParsedChat): Generator<void, void> {
  yield* searchUnmeasured(parsed)
  yield* searchAudio(parsed.request.messages)
  yield* measureAudio(parsed.request)
}

/** Notes what settings of any format ask, also where its parser does not know them. */
function noteSettings(findings: Findings, { value, headers }: SourceBody): void {
  const { compaction, raisesWindow: isRaised } = readSettings(value)
  const betas = headers?.['anthropic-beta']
  if (compaction !== undefined) findings.uncounted.push(compaction)
  if (isRaised || (betas !== undefined && raisesWindow(betas))) findings.raisesWindow = true
}

/** Names the end user in every format, and is a field of the native one alone: no provider of the others gets it. */
async function withoutEndUser(ctx: IdentifiedContext, body: JsonBody): Promise<JsonBody> {
  const others = spliceObject(body, new Map([['end_user', undefined]]))
  return await parseBody(ctx, await writeWhole(ctx, others))
}
