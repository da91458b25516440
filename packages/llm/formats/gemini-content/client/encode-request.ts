import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { joinAddress } from '../../../upstream/join-address.ts'
import { type OutgoingBody, toCallerOptions } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodeRequest } from '../../shared/client-format.ts'
import { toWellFormedBody } from '../../shared/reading/well-formed-json.ts'
import { FIELDS } from '../wire/fields.ts'
import { emulateFormat } from './emulate-format.ts'
import { writeConfig } from './encode-config.ts'
import { encodeContents } from './encode-contents.ts'
import { encodeToolConfig, encodeTools } from './encode-tools.ts'
import { passRequest } from './pass-request.ts'

/** The path of models after the base address. */
const MODEL_PATH = '/models'

/** The canonical request as `:generateContent` takes it; a body of this format passes through. See ClientFormat. */
export const encodeRequest: EncodeRequest = (request, target, source, dropped = []) => {
  const { provider, model } = target
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const path = `${provider.modelPath ?? MODEL_PATH}/${encodeURIComponent(model)}:${method}`
  const { passedBody } = request
  const isPassed = source?.format === 'gemini-content' && passedBody !== undefined
  const adapted = isPassed ? request : emulateFormat(request, model)
  const content = isPassed
    ? { rules: FIELDS.rules, value: passRequest(passedBody, request, target, dropped) }
    : translateBody(adapted, target, dropped)
  return {
    ...joinAddress(target.baseUrl, path),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    body: toWellFormedBody(content.value),
    content,
    ...(adapted.responseFormat === request.responseFormat ? {} : { emulated: ['response_format'] }),
  }
}

function translateBody(request: ChatRequest, target: Target, dropped: readonly string[]): OutgoingBody {
  const encoded = encodeBody(request, target)
  for (const name of dropped) FIELDS.remove(encoded, name)
  const options = spellOptions(request.providerOptions?.[target.provider.id])
  return {
    rules: FIELDS.rules,
    value: withOptions(encoded, options),
    options: toCallerOptions(target, options),
  }
}

function encodeBody(request: ChatRequest, target: Target): JsonObject {
  const body: JsonObject = encodeContents(request.messages, target)
  const tools = encodeTools(request.tools)
  if (tools !== undefined) {
    body.tools = tools
    const toolConfig = encodeToolConfig(request.toolChoice)
    if (toolConfig !== undefined) body.toolConfig = toolConfig
  }
  writeConfig(request, target, body)
  return body
}

/** The caller's options for this provider. The API refuses a field in both spellings. */
function spellOptions(options: JsonObject | undefined): JsonObject | undefined {
  if (options === undefined || !Object.hasOwn(options, 'generation_config')) return options
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name === 'generation_config' ? 'generationConfig' : name,
      value,
    ]),
  )
}

function withOptions(body: JsonObject, options: JsonObject | undefined): JsonObject {
  if (options === undefined) return body
  const merged = new Map(Object.entries(body))
  for (const [name, value] of Object.entries(options)) {
    const own = toObject(merged.get(name))
    const added = toObject(value)
    merged.set(name, own === undefined || added === undefined ? value : { ...own, ...added })
  }
  return Object.fromEntries(merged)
}
