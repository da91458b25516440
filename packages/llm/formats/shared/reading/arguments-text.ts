import { type Json, toJsonText } from '../../../json/json-value.ts'
import { weighJson } from '../../../json/weigh-json.ts'
import { RequestError } from './request-error.ts'

/** More than the texts of calls may have (tools/inner-texts.ts), because short values weigh several times what they are long. */
const MAX_WEIGHT = 8 * 1024 * 1024

/** Returns the arguments of a call as text. Throws if they are so long that encoding them would take long, and no caller may send them. */
export function toArgumentsText(value: Json): string {
  let weight: number
  try {
    weight = weighJson(value, MAX_WEIGHT)
  } catch {
    // Nested too deeply to be looked through. toJsonText makes the same of it where it cannot be written either.
    return '{}'
  }
  if (weight >= 0) return toJsonText(value)
  throw new RequestError('request_too_large', 'The arguments of a tool call are too long.', {
    param: 'messages',
  })
}
