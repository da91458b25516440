import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Framing } from '../frames/framing.ts'
import { openFrames } from '../frames/open-frames.ts'
import type { Json } from '../json/json-value.ts'
import { findProvider } from '../providers/index.ts'
import type { ClientFormatId } from '../request/format-id.ts'

/** Real traffic, kept beside the repository; a clone elsewhere has none of it. */
const WIRE = new URL('../../../../shared/wire/', import.meta.url)

export const hasRecordings = existsSync(WIRE)

/** How the files of a format begin. */
const PREFIXES: Readonly<Record<ClientFormatId, string>> = {
  'openai-chat': 'chat-completions__',
  'openai-responses': 'responses__',
  'anthropic-messages': 'messages__',
  'gemini-content': 'generateContent__',
  'bedrock-converse': 'converse__',
  'cohere-v2': 'cohere-chat__',
  'ollama-chat': 'ollama-chat__',
}

export interface RecordedFrame {
  readonly event: string
  readonly data: string
}

/** Paths of a format's answers, plain or streamed, by whichever provider. */
export function listAnswers(format: ClientFormatId, mode: 'unary' | 'stream'): readonly string[] {
  return listFiles(`${PREFIXES[format]}${mode}__`)
}

/** Paths of the recordings whose names begin so. */
export function listFiles(start: string): readonly string[] {
  if (!hasRecordings) return []
  const folders = readdirSync(WIRE, { withFileTypes: true }).filter(each => each.isDirectory())
  return folders.flatMap(({ name }) =>
    readdirSync(new URL(name, WIRE))
      .filter(file => file.startsWith(start))
      .map(file => `${name}/${file}`),
  )
}

export interface RecordedAnswer {
  readonly provider: ReturnType<typeof findProvider>
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  /** undefined: the body is no JSON. */
  readonly json: Json | undefined
  readonly frames: readonly RecordedFrame[]
}

export function readAnswer(path: string, framing: Framing): RecordedAnswer {
  const { response } = JSON.parse(readFileSync(new URL(path, WIRE), 'utf8'))
  const { body_base64: base64, chunks, status, headers } = response
  const text = typeof response.body === 'string' ? response.body : ''
  const isStream = path.includes('__stream__')
  const bytes = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64')
  return {
    provider: findProvider(path.split('/')[0] ?? ''),
    status,
    headers: headers ?? {},
    text,
    json: isStream ? undefined : parse(text),
    frames: isStream ? [...fromChunks(chunks ?? [], framing), ...fromBytes(bytes, framing)] : [],
  }
}

/** Returns the frames of a stream that was kept as events: those of AWS stand under their names. */
function fromChunks(chunks: readonly string[], framing: Framing): RecordedFrame[] {
  if (framing !== 'aws-event-stream') return chunks.map(data => ({ event: '', data }))
  return chunks.flatMap(chunk =>
    Object.entries(JSON.parse(chunk)).map(([event, data]) => ({ event, data: JSON.stringify(data) })),
  )
}

function fromBytes(bytes: Buffer, framing: Framing): RecordedFrame[] {
  const frames: RecordedFrame[] = []
  const parser = openFrames(framing, ({ event, data }) => frames.push({ event: event ?? '', data }))
  parser.push(bytes)
  parser.end()
  return frames
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
