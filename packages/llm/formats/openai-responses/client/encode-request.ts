import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toAddress, toWireModel } from '../../../upstream/openai-address.ts'
import { findChanged, findReservedPassed, optionsPath } from '../../../upstream/outgoing-body.ts'
import type { Target } from '../../../upstream/target.ts'
import type { UpstreamRequest } from '../../../upstream/upstream-request.ts'
import { findModelRule, listUnsupported } from '../../shared/model-rules.ts'
import { encodeBody } from './encode-body.ts'
import { OWN_NAMES } from './known-fields.ts'
import { readOwnInput } from './own-input.ts'
import { readField } from './read-field.ts'

/** The provider refuses a lower cap (wire facts §1.2). */
const MIN_OUTPUT_TOKENS = 16
const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/**
 * The provider's request: what was written in this format passes through with the few fields that must differ; anything
 * else is made from the canonical request. `dropped` are wire names that must not be sent.
 */
export function encodeRequest(
  request: ChatRequest,
  target: Target,
  source: SourceBody | undefined,
  dropped: readonly string[] = [],
): UpstreamRequest {
  const options = request.providerOptions?.[target.provider.id]
  // What would change no answer was not dropped by name, but would be refused all the same.
  const refused = listUnsupported(target.provider.openai ?? {}, target.model, request)
  const left = [...dropped, ...refused]
  const { body, reserved } =
    source?.format === 'openai-responses'
      ? passBody(request, target, source, left)
      : makeBody(request, target, left, options)
  return {
    ...toAddress(target, '/responses'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    body,
    reserved,
  }
}

type Made = Pick<UpstreamRequest, 'body' | 'reserved'>

function passBody(
  request: ChatRequest,
  target: Target,
  source: SourceBody,
  dropped: readonly string[],
): Made {
  const changes = new Map<string, Json | undefined>([['model', toWireModel(target)]])
  const cap = request.maxOutputTokens
  if (cap !== undefined && readField(source, 'max_output_tokens') !== cap)
    changes.set('max_output_tokens', atLeast(cap))
  for (const name of dropped) if (source.fields.has(name)) changes.set(name, undefined)
  // Absent means stored.
  if (dropped.includes('store')) changes.set('store', false)
  const tools = dropped.some(path => path.startsWith('tools[')) ? readField(source, 'tools') : undefined
  if (Array.isArray(tools)) {
    changes.set(
      'tools',
      tools.filter((_, at) => !dropped.includes(`tools[${at}]`)),
    )
  }
  const input = readOwnInput(source, dropped)
  if (input !== undefined) changes.set('input', input)
  return { body: spliceObject(source, changes), reserved: findReservedPassed(source, changes, OWN_NAMES) }
}

function makeBody(
  request: ChatRequest,
  target: Target,
  dropped: readonly string[],
  options: JsonObject | undefined,
): Made {
  const deviations = target.provider.openai ?? {}
  const body: JsonObject = { model: toWireModel(target), ...encodeBody(request, deviations, dropped) }
  if (request.maxOutputTokens !== undefined) body.max_output_tokens = atLeast(request.maxOutputTokens)
  if (request.stream) body.stream = true
  // Nothing is kept there: the reasoning goes to the caller, encrypted, and comes back with the next turn.
  body.store ??= false
  if (findModelRule(deviations, target.model)?.reasons === true) body.include = [ENCRYPTED_REASONING]
  const merged = options === undefined ? body : withOptions(body, options)
  return {
    body: Buffer.from(JSON.stringify(merged)),
    reserved: findChanged(body, merged, optionsPath(target)),
  }
}

/** The caller's options for this provider, which may name parameters as chat completions do. */
function withOptions(body: JsonObject, { reasoning_effort, verbosity, ...options }: JsonObject): JsonObject {
  const merged: JsonObject = { ...body, ...options }
  if (reasoning_effort !== undefined) {
    merged.reasoning = { ...toObject(merged.reasoning), effort: reasoning_effort }
  }
  if (verbosity !== undefined) merged.text = { ...toObject(merged.text), verbosity }
  return merged
}

function atLeast(cap: number): number {
  return Math.max(MIN_OUTPUT_TOKENS, cap)
}
