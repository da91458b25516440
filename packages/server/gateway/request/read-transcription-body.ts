import type { TranscriptionRequest } from '@rideau/llm/audio/audio-format'
import { measureSeconds } from '@rideau/llm/audio/audio-length'
import { findUnreadField, isListField, parseTranscription } from '@rideau/llm/audio/parse-transcription'
import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import { CHAT_BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import type { Json, JsonObject } from '@rideau/llm/json/json-value'
import { runAtOnce } from '@rideau/llm/json/run-at-once'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import type { FormPart } from '../../http/body/form-scan.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { noteModel } from './note-model.ts'
import { assertForm, duplicateField, FormTexts, readForm } from './read-form.ts'
import { readBytes } from './read-json.ts'
import type { IdentifiedContext } from './request-context.ts'

/** The parsed form of a transcription or translation. */
export interface ParsedTranscription {
  readonly request: TranscriptionRequest
  /** The form's `end_user`, not validated yet; see name-end-user.ts. */
  readonly endUser: Json | undefined
  /** The first field that is passed on unread. */
  readonly passedOn: string | undefined
  readonly user: string | undefined
}

/** A longer file is measured in turns. */
const SHORT_FILE_BYTES = 64 * 1024

/** Reads the form of a transcription or translation, as OpenAI's clients send it. */
export async function readTranscriptionBody(
  ctx: IdentifiedContext,
  task: TranscriptionRequest['task'],
  timeoutMs: number,
): Promise<ParsedTranscription> {
  const contentType = ctx.req.headers['content-type']
  assertForm(contentType, 'multipart/form-data')
  const bytes = await readBytes(ctx, CHAT_BODY_LIMIT_BYTES, timeoutMs)
  const { fields, file } = toFields(await readForm(bytes, contentType, () => ctx.stopped, ctx))
  // The log keeps the fields without the file.
  ctx.recordFields.requestBody = Buffer.from(JSON.stringify(fields))
  noteModel(ctx.recordFields, fields.model)
  const request = parseTranscription(task, fields, file)
  const measuring = measureSeconds(request.file.bytes)
  const isShort = request.file.bytes.length <= SHORT_FILE_BYTES
  const seconds = isShort ? runAtOnce(measuring) : await runSteps(measuring, ctx, () => ctx.stopped)
  return {
    request: { ...request, file: { ...request.file, seconds } },
    endUser: fields.end_user,
    passedOn: findUnreadField(fields),
    user: typeof fields.user === 'string' ? fields.user : undefined,
  }
}

function toFields(parts: readonly FormPart[]): { fields: JsonObject; file: Buffer | undefined } {
  const texts = new FormTexts()
  const values = new Map<string, Json>()
  let file: Buffer | undefined
  for (const part of parts) {
    const param = excerptName(part.name)
    if (part.isFile) {
      if (part.name !== 'file') throw invalid(param, 'must not be a file; only file is one.')
      if (file !== undefined) throw duplicateField('file')
      file = part.bytes
      continue
    }
    if (part.name === 'file') throw invalid('file', 'must be a file.')
    const text = texts.read(part, param)
    const listed = part.name.replace(/\[\d*\]$/, '')
    if (isListField(listed)) values.set(listed, [...((values.get(listed) as Json[] | undefined) ?? []), text])
    else if (values.has(part.name)) throw duplicateField(param)
    else values.set(part.name, text)
  }
  return { fields: Object.fromEntries(values), file }
}
