import { hasStrictFilter } from '../../formats/gemini-content/server/parse-tools.ts'
import { assertSameModel, spell } from '../../formats/gemini-content/server/read-body.ts'
import {
  choiceAt,
  invalid,
  listAt,
  objectAt,
  optionalObject,
  optionalText,
  textAt,
  textsAt,
} from '../../formats/shared/reading/read-fields.ts'
import { toPassThroughFindings } from '../../formats/shared/requests/findings.ts'
import { listUnknownFields } from '../../formats/shared/requests/list-unknown-fields.ts'
import { decodeBase64 } from '../../json/base64.ts'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { toSentJson, toSentText } from '../../json/unwritten-json.ts'
import type { GoogleFields, ImageReply, ImageSource, ImageUsage } from '../image-format.ts'
import { toSource } from '../image-request.ts'
import type { ImageServer, ParsedImages } from '../image-server.ts'

/** Names of models whose answers are images: `gemini-2.5-flash-image`, `gpt-image-1`, `sandbox/image`. */
export const IMAGE_MODELS = /(?:^|\/)(?:(?:gemini|gpt)-(?:[\w.]+-)*image(?:-[\w.-]+)?|image)$/

const BODY: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'generationConfig',
  'safetySettings',
  'endUser',
])
const PART: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'inlineData'])
/** What a Google model takes as it is. */
const SAMPLING = ['temperature', 'topP', 'topK', 'seed', 'maxOutputTokens']
const CONFIG: ReadonlySet<string> = new Set([
  ...SAMPLING,
  'responseModalities',
  'imageConfig',
  'candidateCount',
])
const IMAGE_CONFIG: ReadonlySet<string> = new Set(['aspectRatio', 'imageSize'])
const MAX_SOURCES = 16

/** `:generateContent` of a model whose answers are images. */
export const geminiImages: ImageServer = {
  contentType: 'application/json',
  parse: (given, { pathModel, isEndUser }) => parse(given, pathModel, isEndUser),
  encodeReply: (reply, model, requestId) => toSentJson(toAnswer(reply, model, requestId)),
}

/** `:streamGenerateContent?alt=sse`: the whole answer as one event, since an image has no pieces. */
export const geminiImageEvents: ImageServer = {
  ...geminiImages,
  contentType: 'text/event-stream; charset=utf-8',
  encodeReply: (reply, model, requestId) =>
    toSentText(['data: ', { value: toAnswer(reply, model, requestId) }, '\r\n\r\n']),
}

/** `:streamGenerateContent`: a list of one chunk. */
export const geminiImageList: ImageServer = {
  ...geminiImages,
  encodeReply: (reply, model, requestId) =>
    toSentText(['[', { value: toAnswer(reply, model, requestId) }, ']']),
}

function parse(given: JsonObject, model: string, isEndUser: boolean): ParsedImages {
  const body = spell(given)
  const unknownFields = listUnknownFields(withoutEmptyLists(body), BODY)
  assertSameModel(body, model)
  const content: PromptContent = { texts: [], images: [] }
  const contents = listAt(body.contents, 'contents')
  if (contents.length === 0) throw invalid('contents', 'must have at least one entry.')
  const kept = contents.map((value, at) => readContent(value, `contents[${at}]`, content))
  const system = optionalObject(body, 'systemInstruction')
  if (system !== undefined) readContent(system, 'systemInstruction', content)
  const prompt = content.texts.join('\n')
  if (prompt === '') throw invalid('contents', 'must have a text.')
  if (content.images.length > MAX_SOURCES)
    throw invalid('contents', `must have at most ${MAX_SOURCES} images.`)
  const { config, only } = readConfig(body, unknownFields)
  if (system !== undefined) only.push('systemInstruction')
  if (contents.length > 1) only.push('contents')
  const { safetySettings } = withoutEmptyLists(body)
  if (hasStrictFilter(safetySettings)) only.push('safetySettings')
  const google: GoogleFields = {
    contents: kept,
    config,
    only: [...only, ...unknownFields],
    unknownFields,
    ...(system === undefined ? {} : { systemInstruction: system }),
    ...(safetySettings === undefined || safetySettings === null ? {} : { safetySettings }),
  }
  // A client token may not loosen filters.
  const notForUsers = google.safetySettings === undefined ? [] : ['safetySettings']
  const request = { model, prompt, n: 1, google }
  return {
    request: content.images.length === 0 ? request : { ...request, images: content.images },
    endUser: body.endUser,
    findings: toPassThroughFindings([...notForUsers, ...unknownFields], isEndUser),
    files: undefined,
  }
}

/** Some clients send an empty list for a field that they do not set, such as LangChain for `stopSequences`. */
function withoutEmptyLists(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => !Array.isArray(value) || value.length > 0),
  )
}

interface PromptContent {
  readonly texts: string[]
  readonly images: ImageSource[]
}

function readContent(value: Json, path: string, prompt: PromptContent): JsonObject {
  const content = objectAt(value, path)
  if (content.role !== undefined && content.role !== null) {
    choiceAt(content.role, `${path}.role`, ['user', 'model', 'system'])
  }
  const parts = listAt(content.parts, `${path}.parts`)
  for (const [at, part] of parts.entries()) readPart(part, `${path}.parts[${at}]`, prompt)
  return content
}

function readPart(value: Json, path: string, prompt: PromptContent): void {
  const part = objectAt(value, path)
  for (const name in part) {
    if (part[name] !== null && !PART.has(name)) throw invalid(`${path}.${name}`, 'must be text or an image.')
  }
  const text = optionalText(part, 'text', `${path}.text`)
  if (text !== undefined) prompt.texts.push(text)
  const data = optionalObject(part, 'inlineData', `${path}.inlineData`)
  if (data === undefined) return
  const at = `${path}.inlineData.data`
  const source = toSource(decodeBase64(textAt(data.data, at)), at)
  // A caller may call it something else, which the provider would read it as. The body is the gateway's own copy.
  data.mimeType = source.mediaType
  prompt.images.push(source)
}

/** Adds fields that no target gets to `unknownFields`. `only`: paths of what a Google model alone takes. */
function readConfig(body: JsonObject, unknownFields: string[]): { config: JsonObject; only: string[] } {
  const given = optionalObject(body, 'generationConfig') ?? {}
  unknownFields.push(...listUnknownFields(withoutEmptyLists(given), CONFIG, 'generationConfig'))
  if ((given.candidateCount ?? 1) !== 1) throw invalid('generationConfig.candidateCount', 'must be 1.')
  const only: string[] = []
  const config = new Map<string, Json>([['responseModalities', readModalities(given)]])
  for (const name of SAMPLING) {
    const value = given[name]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number') throw invalid(`generationConfig.${name}`, 'must be a number.')
    config.set(name, value)
    only.push(`generationConfig.${name}`)
  }
  const image = optionalObject(given, 'imageConfig', 'generationConfig.imageConfig')
  if (image === undefined) return { config: Object.fromEntries(config), only }
  unknownFields.push(...listUnknownFields(image, IMAGE_CONFIG, 'generationConfig.imageConfig'))
  const kept = new Map<string, string>()
  for (const name of IMAGE_CONFIG) {
    const text = optionalText(image, name, `generationConfig.imageConfig.${name}`)
    if (text === undefined) continue
    kept.set(name, text)
    only.push(`generationConfig.imageConfig.${name}`)
  }
  config.set('imageConfig', Object.fromEntries(kept))
  return { config: Object.fromEntries(config), only }
}

/** Words and images unless the caller says otherwise, as these models do. */
function readModalities({ responseModalities: kinds }: JsonObject): string[] {
  const path = 'generationConfig.responseModalities'
  if (kinds === undefined || kinds === null) return ['TEXT', 'IMAGE']
  const named = textsAt(kinds, path).map((kind, at) =>
    choiceAt(kind.toUpperCase(), `${path}[${at}]`, ['TEXT', 'IMAGE']),
  )
  if (!named.includes('IMAGE')) throw invalid(path, 'must have IMAGE: this model answers with images.')
  return named
}

/** A Google model's answer as it came; that of others in the same shape. */
function toAnswer(reply: ImageReply, model: string, requestId: string): JsonObject {
  if (reply.received !== undefined) return reply.received
  const parts = reply.images.map(({ base64, url, mediaType: mimeType = 'image/png' }) =>
    base64 === undefined
      ? { fileData: { mimeType, fileUri: url ?? '' } }
      : { inlineData: { mimeType, data: base64 } },
  )
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    ...(reply.usage === undefined ? {} : { usageMetadata: toUsageMetadata(reply.usage) }),
    modelVersion: model,
    responseId: requestId,
  }
}

function toUsageMetadata(usage: ImageUsage): JsonObject {
  const input = usage.textInput + usage.textCacheRead + usage.imageInput + usage.imageCacheRead
  const output = usage.textOutput + usage.imageOutput
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: usage.imageOutput }],
  }
}
