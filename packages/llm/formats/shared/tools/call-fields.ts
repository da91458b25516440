import type { Json } from '../../../json/json-value.ts'
import { invalid, textAt } from '../reading/read-fields.ts'
import { plainToolCallId } from '../reasoning/reasoning-carrier.ts'

/** No provider takes a longer name of a function than 128 characters. */
const MAX_TOOL_NAME = 256
/** Ids are short, but some gateways put a signature of reasoning into them. What the gateway's own ids carry has a bound of its own. */
const MAX_CALL_ID = 64 * 1024

/** The name of a tool, where it is declared, called or answered. */
export function toolNameAt(value: Json | undefined, path: string): string {
  const name = textAt(value, path)
  if (name.length > MAX_TOOL_NAME) {
    throw invalid(path, `must have at most ${MAX_TOOL_NAME} characters; got ${name.length}.`)
  }
  return name
}

/** The id of a tool call, in the call or in its result. */
export function toolCallIdAt(value: Json | undefined, path: string): string {
  const id = textAt(value, path)
  assertCallIdLength(id, path)
  return id
}

/** Throws if the id of a tool call is too long, besides the reasoning that it carries. */
export function assertCallIdLength(id: Json | undefined, path: string): void {
  if (typeof id !== 'string' || id.length <= MAX_CALL_ID) return
  const { length } = plainToolCallId(id)
  if (length <= MAX_CALL_ID) return
  const most = MAX_CALL_ID.toLocaleString('en-US')
  throw invalid(
    path,
    `must have at most ${most} characters, besides reasoning that it carries; got ${length}.`,
  )
}
