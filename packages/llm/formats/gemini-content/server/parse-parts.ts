import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ContentPart } from '../../../request/message.ts'
import { joinPath } from '../../shared/reading/field-path.ts'
import { holdsPackedFile, namesContent } from '../../shared/reading/names-content.ts'
import { listAt, objectAt, optionalObject, optionalText, textAt } from '../../shared/reading/read-fields.ts'
import type { MutableFindings } from '../../shared/requests/findings.ts'
import { assertCallIdLength, toolNameAt } from '../../shared/tools/call-fields.ts'
import { isStoredAtProvider, NATIVE_PART_FIELDS } from '../wire/content-rules.ts'
import { noteNativeOnly, noteUnknownFields } from './note-unknown-fields.ts'
import { toFilePart, toInlinePart } from './to-content-part.ts'

/** One part of a content. Each of its fields may stand beside any other. */
export interface ParsedPart {
  readonly text?: string
  readonly isThought?: boolean
  /** The signature of the text or of the call. */
  readonly signature?: string
  /** Inline data, or a file by its address. */
  readonly media?: ContentPart
  readonly call?: ParsedCall
  readonly result?: ParsedResult
}

export interface ParsedCall {
  readonly id: string | undefined
  readonly name: string
  readonly args: JsonObject
}

export interface ParsedResult {
  readonly id: string | undefined
  readonly name: string
  readonly response: JsonObject
  readonly media: readonly ContentPart[]
}

type MutablePart = { -readonly [K in keyof ParsedPart]: ParsedPart[K] }

/** Throws RequestError where a part has the wrong form. Fields that not every target can honour are added to the findings. */
export function parseParts(
  value: Json | undefined,
  path: string,
  findings: MutableFindings,
): readonly ParsedPart[] {
  if (value === undefined || value === null) return []
  return listAt(value, path).map((item, at) =>
    parsePart(objectAt(item, `${path}[${at}]`), `${path}[${at}]`, findings),
  )
}

function parsePart(fields: JsonObject, path: string, findings: MutableFindings): ParsedPart {
  const part: MutablePart = {}
  for (const name in fields) {
    const value = fields[name]
    if (value === null || value === undefined) continue
    const at = joinPath(path, name)
    const parse = FIELD_PARSERS[name]
    if (parse !== undefined) parse(part, value, at, findings)
    else if (NATIVE_FIELDS.has(name)) {
      findings.nativeOnly.push(at)
      if (namesContent(value, findings.textsLeft) || holdsPackedFile(value, findings.textsLeft))
        findings.unmeasured.push(at)
    } else findings.unknownFields.push(at)
  }
  return part
}

/**
 * What parts show to a model: no texts of thoughts, calls and results. Media is kept whatever else its part has, since all of it is sent
 * to Google: it would be counted by its letters alone.
 */
export function listContent(parts: readonly ParsedPart[]): ContentPart[] {
  const content: ContentPart[] = []
  for (const { text, media, isThought } of parts) {
    if (text !== undefined && isThought !== true) content.push({ type: 'text', text })
    if (media !== undefined) content.push(media)
  }
  return content
}

const NATIVE_FIELDS: ReadonlySet<string> = new Set(NATIVE_PART_FIELDS)

const RESULT_FIELDS = ['id', 'name', 'response', 'parts', 'scheduling', 'willContinue']

type FieldParser = (part: MutablePart, value: Json, path: string, findings: MutableFindings) => void

const FIELD_PARSERS: Readonly<Record<string, FieldParser | undefined>> = toTable<
  Record<string, FieldParser | undefined>
>({
  text: (part, value, path) => {
    part.text = textAt(value, path)
  },
  thought: (part, value) => {
    part.isThought = value === true
  },
  thoughtSignature: (part, value, path) => {
    const signature = textAt(value, path)
    if (signature !== '') part.signature = signature
  },
  inlineData: (part, value, path, findings) => {
    const blob = objectAt(value, path)
    noteUnknownFields(blob, path, ['mimeType', 'data', 'displayName'], findings)
    const mimeType = textAt(blob.mimeType, `${path}.mimeType`)
    const data = textAt(blob.data, `${path}.data`)
    part.media = toInlinePart(mimeType, data, toText(blob.displayName))
  },
  fileData: (part, value, path, findings) => {
    const file = objectAt(value, path)
    noteUnknownFields(file, path, ['mimeType', 'fileUri', 'displayName'], findings)
    const fileUri = textAt(file.fileUri, `${path}.fileUri`)
    if (isStoredAtProvider(fileUri)) findings.storedStatePaths.push(`${path}.fileUri`)
    // Whatever its media type and its end say, it may be a video of any length.
    findings.unmeasured.push(`${path}.fileUri`)
    const mimeType = optionalText(file, 'mimeType', `${path}.mimeType`)
    part.media ??= toFilePart(mimeType === '' ? undefined : mimeType, fileUri, toText(file.displayName))
  },
  functionCall: (part, value, path, findings) => {
    const call = objectAt(value, path)
    noteUnknownFields(call, path, ['id', 'name', 'args'], findings)
    const name = toolNameAt(call.name, `${path}.name`)
    optionalText(call, 'id', `${path}.id`)
    assertCallIdLength(call.id, `${path}.id`)
    const args = optionalObject(call, 'args', `${path}.args`) ?? {}
    part.call = { id: toText(call.id), name, args }
  },
  functionResponse: (part, value, path, findings) => {
    const result = objectAt(value, path)
    noteUnknownFields(result, path, RESULT_FIELDS, findings)
    const name = toolNameAt(result.name, `${path}.name`)
    optionalText(result, 'id', `${path}.id`)
    assertCallIdLength(result.id, `${path}.id`)
    const response = optionalObject(result, 'response', `${path}.response`) ?? {}
    const media = listContent(parseParts(result.parts, `${path}.parts`, findings))
    noteNativeOnly(result, path, ['scheduling', 'willContinue'], findings)
    part.result = { id: toText(result.id), name, response, media }
  },
})
