import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ChatCall } from '../../shared/chat-call.ts'
import { parseTools } from '../../shared/chat-fields.ts'
import {
  invalid,
  listAt,
  optionalChoice,
  optionalFlag,
  optionalNumber,
  optionalObject,
  set,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedFields } from '../../shared/reserved-fields.ts'
import { checkMessages } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'

/** What the gateway reads, or what changes nothing but the answer. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'tool_choice',
  'strict_tools',
  'documents',
  'citation_options',
  'response_format',
  'safety_mode',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'k',
  'p',
  'logprobs',
  'thinking',
  'priority',
])

const SPELLED = { top_p: 'p', stop: 'stop_sequences', reasoning_effort: 'thinking' }

export function findUnknownField(body: JsonObject): string | undefined {
  for (const name in body) if (!KNOWN.has(name) && body[name] !== null) return name
  return undefined
}

/** `POST {cohere prefix}/v2/chat` in Cohere's own shape; see parseCompatChat. */
export function parseCohereChat(body: JsonObject): ChatCall {
  refuseReservedFields(body, KNOWN)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  checkMessages(body)
  parseTools(body, { strict: true })
  optionalChoice(body, 'tool_choice', ['REQUIRED', 'NONE'])
  for (const name of ['response_format', 'thinking', 'citation_options']) optionalObject(body, name)
  if (body.documents !== undefined && body.documents !== null) listAt(body.documents, 'documents')
  checkStopSequences(body)
  const { asked, nativeOnly } = decodeRequest(body)
  const request: { -readonly [K in keyof ChatRequest]: ChatRequest[K] } = {
    ...asked,
    model,
    stream: optionalFlag(body, 'stream') ?? false,
    // The last event of a stream always tells usage.
    includeUsage: true,
  }
  set(request, 'maxOutputTokens', optionalNumber(body, 'max_tokens', { min: 1, integer: true }))
  set(request, 'temperature', optionalNumber(body, 'temperature'))
  set(request, 'topP', optionalNumber(body, 'p'))
  set(request, 'seed', optionalNumber(body, 'seed', { integer: true }))
  set(request, 'presencePenalty', optionalNumber(body, 'presence_penalty'))
  set(request, 'frequencyPenalty', optionalNumber(body, 'frequency_penalty'))
  return {
    request,
    metadata: null,
    timeoutMs: undefined,
    endUser: undefined,
    spelled: SPELLED,
    findings: { nativeOnly: [...nativeOnly], hosted: [], stateful: [] },
  }
}

function checkStopSequences(body: JsonObject): void {
  if (body.stop_sequences === undefined || body.stop_sequences === null) return
  for (const [at, value] of listAt(body.stop_sequences, 'stop_sequences').entries()) {
    textAt(value, `stop_sequences[${at}]`)
  }
}
