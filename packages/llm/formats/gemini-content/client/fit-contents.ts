import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { Target } from '../../../upstream/target.ts'
import { unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { findSignature } from '../wire/encode-reply.ts'
import { needsSignature, PLACEHOLDER } from '../wire/signatures.ts'
import { withId } from './encode-contents.ts'

/**
 * The contents of a caller of this format as its provider takes them; the given ones stay as they are. If another provider
 * answered before, ids of calls carry that provider's state, and calls have no signature. Vertex AI refuses a content
 * without a role.
 */
export function fitContents(contents: readonly JsonObject[], target: Target): JsonObject[] {
  return contents.map(content => fitContent(content, target))
}

function fitContent(content: JsonObject, target: Target): JsonObject {
  const parts = toObjects(content.parts)
  const hasCalls = parts.some(hasCall)
  const isFit = !hasCalls && !parts.some(hasResult)
  const role = content.role ?? 'user'
  if (isFit) return role === content.role ? content : { ...content, role }
  const fitted = parts.map(part => fitPart(part, target))
  const first = fitted.find(hasCall)
  // Calls made at once have one signature, on the first.
  if (
    first !== undefined &&
    needsSignature(target.model) &&
    !fitted.some(part => hasCall(part) && isSigned(part))
  ) {
    first.thoughtSignature = PLACEHOLDER
  }
  return { ...content, role, parts: fitted }
}

function hasCall(part: JsonObject): boolean {
  return toObject(part.functionCall) !== undefined
}

function hasResult(part: JsonObject): boolean {
  return toObject(part.functionResponse) !== undefined
}

function isSigned(part: JsonObject): boolean {
  return toText(part.thoughtSignature) !== undefined
}

function fitPart(part: JsonObject, target: Target): JsonObject {
  const call = toObject(part.functionCall)
  const result = toObject(part.functionResponse)
  if (call === undefined && result === undefined) return part
  const fitted = { ...part }
  if (call !== undefined) {
    const { id, details } = unpackToolCallId(toText(call.id) ?? '')
    const signature = findSignature(details, id)
    if (signature !== undefined && !isSigned(part)) fitted.thoughtSignature = signature
    fitted.functionCall = fitId(call, target)
  }
  if (result !== undefined) fitted.functionResponse = fitId(result, target)
  return fitted
}

/** Returns an id without the gateway's state, or none if the gateway made it or the provider accepts none. */
function fitId({ id, ...rest }: JsonObject, target: Target): JsonObject {
  const given = toText(id)
  return given === undefined ? rest : { ...withId(given, target), ...rest }
}
