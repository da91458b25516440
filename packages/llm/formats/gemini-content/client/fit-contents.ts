import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import { unpackToolCallId } from '../../shared/reasoning-carrier.ts'
import { findSignature } from '../wire/encode-reply.ts'
import { needsSignature, PLACEHOLDER } from '../wire/signatures.ts'
import { withId } from './encode-contents.ts'

/**
 * The turns of a caller of this format as its provider takes them. Another provider may have answered some: their calls
 * have ids of ours, with that provider's state in them, and no signature. A turn of nobody's is the user's: on one of the
 * clouds it has to say so.
 */
export function fitContents(body: JsonObject, model: string): void {
  for (const content of toObjects(body.contents)) {
    content.role ??= 'user'
    const parts = toObjects(content.parts)
    const calls = parts.filter(part => toObject(part.functionCall) !== undefined)
    for (const part of calls) fitCall(part)
    const [first] = calls
    // Calls made at once have one signature, on the first.
    if (first !== undefined && needsSignature(model) && calls.every(part => !hasSignature(part))) {
      first.thoughtSignature = PLACEHOLDER
    }
    for (const part of parts) {
      const result = toObject(part.functionResponse)
      if (result !== undefined) part.functionResponse = fitId(result)
    }
  }
}

function hasSignature(part: JsonObject): boolean {
  return toText(part.thoughtSignature) !== undefined
}

function fitCall(part: JsonObject): void {
  const call = toObject(part.functionCall) ?? {}
  const { id, details } = unpackToolCallId(toText(call.id) ?? '')
  const signature = findSignature(details, id)
  if (signature !== undefined && !hasSignature(part)) part.thoughtSignature = signature
  part.functionCall = fitId(call)
}

function fitId({ id, ...rest }: JsonObject): JsonObject {
  const given = toText(id)
  return given === undefined ? rest : { ...withId(given), ...rest }
}
