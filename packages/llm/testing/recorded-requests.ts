import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { scanJson } from '../json/json-scan.ts'
import type { JsonObject } from '../json/json-value.ts'
import { toObject, toText } from '../json/json-value.ts'
import type { ChatRequest } from '../request/chat-request.ts'
import type { FormatId } from '../request/format-id.ts'
import type { SourceBody } from '../request/source-body.ts'

/** Real traffic, kept beside the repository; a clone elsewhere does not have it. */
const WIRE = new URL('../../../../shared/wire/', import.meta.url)
export const hasRecordings = existsSync(WIRE)

/** Whose requests are the measure of a case that several providers were put, and in which format. */
const CANONICAL = { provider: 'openai', api: 'chat-completions' }

export interface RecordedRequest {
  /** Folder and file. */
  readonly name: string
  readonly provider: string
  readonly model: string
  readonly url: string
  readonly status: number
  readonly isStream: boolean
  readonly body: JsonObject
  /** The logical request that several providers were put; undefined: this one alone. */
  readonly case: string | undefined
  /** A case has a first request, and sometimes one that answers the first's reply. */
  readonly isFollowUp: boolean
}

/** What a provider was sent on one of its routes, in files' order. Recordings without a JSON request are left out. */
export function listRecordedRequests(provider: string, api: string): RecordedRequest[] {
  if (!hasRecordings) return []
  return readdirSync(new URL(provider, WIRE))
    .filter(file => file.startsWith(`${api}__`))
    .flatMap(file => {
      const recording = JSON.parse(readFileSync(new URL(`${provider}/${file}`, WIRE), 'utf8'))
      const body = parseObject(recording.request?.body)
      if (body === undefined) return []
      return {
        name: `${provider}/${file}`,
        provider,
        model: recording.model ?? toText(body.model) ?? '',
        url: recording.request.url ?? '',
        status: recording.response.status,
        isStream: file.includes('__stream__'),
        body,
        case: recording.case ?? undefined,
        isFollowUp: /followup/i.test(recording.source?.path ?? ''),
      }
    })
}

/**
 * Every case that both the measure and this provider were put: the canonical request, and what was recorded. The first
 * turn only: a second one repeats what each provider's own model had answered.
 */
export function listCases(
  provider: string,
  api: string,
): { readonly name: string; readonly request: ChatRequest; readonly recorded: RecordedRequest }[] {
  const measures = listRecordedRequests(CANONICAL.provider, CANONICAL.api).filter(isCase)
  return listRecordedRequests(provider, api)
    .filter(isCase)
    .flatMap(recorded => {
      const same = measures.filter(measure => measure.case === recorded.case)
      const measure = same.find(({ isStream }) => isStream === recorded.isStream) ?? same[0]
      if (measure === undefined) return []
      const request = { ...toChatRequest(measure.body), stream: recorded.isStream }
      return { name: `${recorded.case} ${recorded.name}`, request, recorded }
    })
}

function isCase({ case: name, isFollowUp }: RecordedRequest): boolean {
  return name !== undefined && !isFollowUp
}

/** The canonical request of an OpenAI-shaped body, as the server side of `openai-chat` parses it. */
export function toChatRequest(body: JsonObject): ChatRequest {
  const cap = body.max_completion_tokens ?? body.max_tokens
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop
  const request = {
    model: body.model,
    messages: body.messages,
    stream: body.stream === true,
    includeUsage: toObject(body.stream_options)?.include_usage === true,
    tools: body.tools,
    toolChoice: body.tool_choice,
    parallelToolCalls: body.parallel_tool_calls,
    responseFormat: body.response_format,
    maxOutputTokens: cap,
    temperature: body.temperature,
    topP: body.top_p,
    stop,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    reasoningEffort: body.reasoning_effort,
    user: body.user,
  }
  const given = Object.entries(request).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given) as unknown as ChatRequest
}

/** A body as it would be received. `body`: text is taken byte for byte. */
export function toSourceBody(format: FormatId, body: JsonObject | string): SourceBody {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error(scan.reason)
  return { format, bytes, value: scan.value as JsonObject, fields: scan.fields }
}

function parseObject(text: unknown): JsonObject | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return toObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
