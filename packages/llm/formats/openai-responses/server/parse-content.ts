import type { Json, JsonObject } from '../../../json/json-value.ts'
import { isObject } from '../../../json/json-value.ts'
import type { ContentPart } from '../../../request/message.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'
import { hasCacheMark } from '../../shared/claude/cache-marks.ts'
import { holdsPackedFile, namesContent } from '../../shared/reading/names-content.ts'
import { listAt, objectAt, textAt } from '../../shared/reading/read-fields.ts'
import { isFileByAddress } from '../../shared/requests/lost-params.ts'
import { type InputFindings, isMarked } from './input-findings.ts'

/** What a user, a system message or a tool's output contains. Parts that no other format has are added to `findings`. */
export function parseContent(
  content: Json | undefined,
  path: string,
  findings: InputFindings,
): string | ContentPart[] {
  if (typeof content === 'string') return content
  const parts: ContentPart[] = []
  for (const [at, value] of listAt(content, path).entries()) {
    const given = objectAt(value, `${path}[${at}]`)
    const part = parsePart(given, `${path}[${at}]`)
    if (part === undefined ? hasCacheMark(given) : isMarked(given)) findings.hasCacheMark = true
    if (noteFileId(given, `${path}[${at}]`, findings)) continue
    if (part === undefined) noteUnread(given, `${path}[${at}]`, findings)
    else {
      if (isFileByAddress(part)) findings.unmeasured.push(`${path}[${at}].file_url`)
      parts.push(part)
    }
  }
  // A single text is the content itself: some providers take no list of parts.
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? String(only.text) : parts
}

/** The text of an assistant's message, refusals included. */
export function parseAnswer(content: Json | undefined, path: string, findings: InputFindings): string {
  if (typeof content === 'string') return content
  let text = ''
  for (const [at, value] of listAt(content, path).entries()) {
    const part = objectAt(value, `${path}[${at}]`)
    const hasFileId = noteFileId(part, `${path}[${at}]`, findings)
    const said = typeof part.text === 'string' ? part.text : part.refusal
    if (typeof said === 'string' ? isMarked(part) : hasCacheMark(part)) findings.hasCacheMark = true
    if (typeof said === 'string') text += said
    else if (!hasFileId) noteUnread(part, `${path}[${at}]`, findings)
  }
  return text
}

/** Notes a part that no other format has. */
function noteUnread(part: JsonObject, path: string, findings: InputFindings): void {
  findings.nativeOnly.push(path)
  if (namesContent(part, findings.textsLeft) || holdsPackedFile(part, findings.textsLeft))
    findings.unmeasured.push(path)
}

/** Returns true if the part names a file in the provider's store, and adds its path to `findings`. */
function noteFileId(part: JsonObject, path: string, findings: InputFindings): boolean {
  for (const name in part) {
    if (part[name] === null || toPlainName(name) !== 'fileid') continue
    findings.storedStatePaths.push(`${path}.${name}`)
    return true
  }
  return false
}

/** undefined: a part that no other format has. */
function parsePart(part: JsonObject, path: string): ContentPart | undefined {
  const type = textAt(part.type, `${path}.type`)
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return { type: 'text', text: textAt(part.text, `${path}.text`) }
  }
  if (type === 'input_image' && typeof part.image_url === 'string') {
    const detail = typeof part.detail === 'string' ? { detail: part.detail } : {}
    return { type: 'image_url', image_url: { url: part.image_url, ...detail } }
  }
  if (type === 'input_file') {
    const filename = typeof part.filename === 'string' ? { filename: part.filename } : {}
    if (typeof part.file_data === 'string')
      return { type: 'file', file: { ...filename, file_data: part.file_data } }
    if (typeof part.file_url === 'string')
      return { type: 'file', file: { ...filename, file_url: part.file_url } }
  }
  if (type === 'input_audio' && isObject(part.input_audio)) return { type, input_audio: part.input_audio }
  return undefined
}
