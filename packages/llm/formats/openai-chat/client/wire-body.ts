import type { Json, JsonObject } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { FormatId } from '../../../request/format-id.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { FIELDS } from '../wire/fields.ts'

/** A request body in OpenAI's shape. The body that goes out differs from it in a few fields. */
export interface WireBody {
  has(name: string): boolean
  isNull(name: string): boolean
  isTrue(name: string): boolean
  /** undefined: absent. */
  read(name: string): Json | undefined
  names(): Iterable<string>
  /** The fields before any change. */
  readonly value: JsonObject
  /** undefined as value removes the field. */
  change(changes: ReadonlyMap<string, Json | undefined>): SentBody
}

/** Formats whose bodies have the shape of a chat completion's. */
const SAME_SHAPE: ReadonlySet<FormatId> = new Set(['native', 'openai-chat'])

/** Returns true if the caller sent a body of another shape. */
export function isForeign(source: SourceBody | undefined): boolean {
  return source !== undefined && !SAME_SHAPE.has(source.format)
}

/** The received body where it has this shape, else one made from the canonical request. */
export function toWireBody(request: ChatRequest, source: SourceBody | undefined): WireBody {
  return source === undefined || isForeign(source) ? fromRequest(request) : fromSource(source)
}

/** The received bytes: what does not change is not serialised again. */
function fromSource({ bytes, fields, value }: SourceBody): WireBody {
  return {
    has: name => fields.has(name),
    // No other JSON values begin with n and t.
    isNull: name => bytes[fields.get(name)?.valueStart ?? -1] === 0x6e,
    isTrue: name => bytes[fields.get(name)?.valueStart ?? -1] === 0x74,
    read: name => (Object.hasOwn(value, name) ? value[name] : undefined),
    names: () => fields.keys(),
    value,
    change: changes => (changes.size === 0 ? bytes : spliceObject({ bytes, fields }, changes)),
  }
}

/** The canonical request in the fields of this format, for callers of another one. */
function fromRequest(request: ChatRequest): WireBody {
  const body: JsonObject = { messages: request.messages as unknown as Json }
  FIELDS.write(request, body)
  const fields = new Map(Object.entries(body))
  return {
    has: name => fields.has(name),
    isNull: () => false,
    isTrue: name => fields.get(name) === true,
    read: name => fields.get(name),
    names: () => fields.keys(),
    value: body,
    change(changes) {
      const all = new Map(fields)
      for (const [name, value] of changes) all.set(name, value)
      return toSentJson(Object.fromEntries(all))
    },
  }
}
