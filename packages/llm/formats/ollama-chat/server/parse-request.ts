import type { JsonObject } from '../../../json/json-value.ts'
import type { OwnFindings } from '../../shared/body-findings.ts'
import { noFindings } from '../../shared/findings.ts'
import { invalid, isObject, optionalFlag, optionalNumber, textAt } from '../../shared/read-fields.ts'
import { refuseReservedName } from '../../shared/reserved-fields.ts'
import { checkMessages, checkOptions, checkTools, findUnreadOption } from './check-fields.ts'
import { decodeRequest } from './decode-request.ts'

/** What an end user may send too. */
const FREE: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'tools', 'format', 'options', 'stream', 'think'],
])
const READ: ReadonlySet<string> = new Set([
  ...FREE,
  ...['keep_alive', 'truncate', 'shift', 'logprobs', 'top_logprobs'],
])

/** What goes on to a provider of the format unread; see ChatServer. */
export function findPassedOnChat(body: JsonObject): string | undefined {
  for (const name in body) if (!FREE.has(name)) return name
  return isObject(body.options) ? findUnreadOption(body.options) : undefined
}

/** `POST {ollama prefix}/api/chat` in Ollama's own shape: a stream, unless the body says otherwise. */
export function parseOllamaChat(body: JsonObject): OwnFindings {
  const findings = noFindings()
  for (const [name, value] of Object.entries(body)) {
    if (value === null || READ.has(name)) continue
    refuseReservedName(name, name)
    findings.unread.push(name)
  }
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  checkMessages(body, findings)
  checkTools(body)
  checkOptions(body, findings)
  checkFormat(body)
  const stream = optionalFlag(body, 'stream') ?? true
  for (const name of ['truncate', 'shift']) optionalFlag(body, name)
  if (optionalFlag(body, 'logprobs') === true) findings.nativeOnly.push('logprobs')
  if ((optionalNumber(body, 'top_logprobs') ?? 0) > 0) findings.nativeOnly.push('top_logprobs')
  return {
    request: { ...decodeRequest(body), model, stream, includeUsage: true },
    metadata: null,
    timeoutMs: undefined,
    findings,
  }
}

function checkFormat({ format, think }: JsonObject): void {
  const isKnown = format === undefined || format === null || format === '' || format === 'json'
  if (!isKnown && !isObject(format)) throw invalid('format', 'must be json or a schema.')
  const isThought = think === undefined || think === null || typeof think === 'boolean'
  if (!isThought) textAt(think, 'think')
}
