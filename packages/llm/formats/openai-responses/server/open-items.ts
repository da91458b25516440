import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { parseInnerJson } from '../../shared/parse-inner-json.ts'
import type { ToolKind } from '../../shared/parsed-chat.ts'
import { packReasoning } from '../wire/carried-reasoning.ts'

/** An event of the stream. It gets its number later. */
export type WireEvent = JsonObject & { readonly type: string }

/** An item of the output that is being written. Each step returns its events. */
export interface OpenItem {
  readonly index: number
  open(): WireEvent[]
  close(): WireEvent[]
  /** The item as it is now. */
  toItem(status: 'in_progress' | 'completed'): JsonObject
}

abstract class BaseItem implements OpenItem {
  readonly index: number
  protected readonly id: string

  constructor(index: number, id: string) {
    this.index = index
    this.id = id
  }

  abstract toItem(status: 'in_progress' | 'completed'): JsonObject

  open(): WireEvent[] {
    return [
      { type: 'response.output_item.added', output_index: this.index, item: this.toItem('in_progress') },
    ]
  }

  close(): WireEvent[] {
    return [{ type: 'response.output_item.done', output_index: this.index, item: this.toItem('completed') }]
  }

  protected at(type: string, fields: JsonObject): WireEvent {
    return { type, item_id: this.id, output_index: this.index, ...fields }
  }
}

type PartKind = 'output_text' | 'refusal'

/** A message of text and refusals, which are its parts. */
export class MessageItem extends BaseItem {
  readonly #parts: { kind: PartKind; text: string }[] = []

  addText(kind: PartKind, text: string): WireEvent[] {
    const events: WireEvent[] = []
    let part = this.#parts.at(-1)
    if (part?.kind !== kind) {
      events.push(...this.#closePart())
      part = { kind, text: '' }
      this.#parts.push(part)
      events.push(this.#atPart('response.content_part.added', { part: toPart(part) }))
    }
    part.text += text
    const delta: WireEvent = {
      type: `response.${kind}.delta`,
      item_id: this.id,
      output_index: this.index,
      content_index: this.#parts.length - 1,
      delta: text,
    }
    if (kind === 'output_text') delta.logprobs = []
    events.push(delta)
    return events
  }

  override close(): WireEvent[] {
    return [...this.#closePart(), ...super.close()]
  }

  toItem(status: 'in_progress' | 'completed'): JsonObject {
    return { type: 'message', id: this.id, status, role: 'assistant', content: this.#parts.map(toPart) }
  }

  #closePart(): WireEvent[] {
    const part = this.#parts.at(-1)
    if (part === undefined) return []
    const whole = part.kind === 'output_text' ? { text: part.text, logprobs: [] } : { refusal: part.text }
    return [
      this.#atPart(`response.${part.kind}.done`, whole),
      this.#atPart('response.content_part.done', { part: toPart(part) }),
    ]
  }

  #atPart(type: string, fields: JsonObject): WireEvent {
    return this.at(type, { content_index: this.#parts.length - 1, ...fields })
  }
}

function toPart({ kind, text }: { kind: PartKind; text: string }): JsonObject {
  return kind === 'refusal'
    ? { type: kind, refusal: text }
    : { type: kind, text, annotations: [], logprobs: [] }
}

/** Reasoning. Its text is the summary, and state that must come back is the encrypted content. */
export class ReasoningItem extends BaseItem {
  #text = ''
  readonly #details: ReasoningDetail[] = []

  addText(text: string): WireEvent[] {
    const events: WireEvent[] = []
    if (this.#text === '') {
      const part = { type: 'summary_text', text: '' }
      events.push(this.at('response.reasoning_summary_part.added', { summary_index: 0, part }))
    }
    this.#text += text
    events.push(this.at('response.reasoning_summary_text.delta', { summary_index: 0, delta: text }))
    return events
  }

  keep(details: readonly ReasoningDetail[]): void {
    this.#details.push(...details)
  }

  override close(): WireEvent[] {
    if (this.#text === '') return super.close()
    const [part] = this.#summary()
    return [
      this.at('response.reasoning_summary_text.done', { summary_index: 0, text: this.#text }),
      this.at('response.reasoning_summary_part.done', { summary_index: 0, part }),
      ...super.close(),
    ]
  }

  toItem(status: 'in_progress' | 'completed'): JsonObject {
    const packed = packReasoning(this.#details)
    return {
      type: 'reasoning',
      id: this.id,
      status,
      summary: this.#summary(),
      ...(packed === undefined ? {} : { encrypted_content: packed }),
    }
  }

  #summary(): JsonObject[] {
    return this.#text === '' ? [] : [{ type: 'summary_text', text: this.#text }]
  }
}

/** A call of one of the caller's tools, in the form that its tool has in this format. */
export class CallItem extends BaseItem {
  readonly #callId: string
  readonly #name: string
  readonly #kind: ToolKind | 'function'
  #arguments = ''

  constructor(index: number, id: string, call: { callId: string; name: string; kind: ToolKind | undefined }) {
    super(index, id)
    this.#callId = call.callId
    this.#name = call.name
    this.#kind = call.kind ?? 'function'
  }

  addArguments(text: string): WireEvent[] {
    this.#arguments += text
    // The input of other kinds is unwrapped from JSON, which is possible at the end only.
    if (this.#kind !== 'function' || text === '') return []
    return [this.at('response.function_call_arguments.delta', { delta: text })]
  }

  override close(): WireEvent[] {
    const events: WireEvent[] = []
    if (this.#kind === 'function') {
      const whole = { name: this.#name, arguments: this.#whole() }
      if (this.#arguments === '') events.push(...this.addArguments(whole.arguments))
      events.push(this.at('response.function_call_arguments.done', whole))
    } else if (this.#kind === 'custom') {
      const input = this.#input()
      events.push(this.at('response.custom_tool_call_input.delta', { delta: input }))
      events.push(this.at('response.custom_tool_call_input.done', { input }))
    }
    return [...events, ...super.close()]
  }

  toItem(status: 'in_progress' | 'completed'): JsonObject {
    const isDone = status === 'completed'
    const own = { id: this.id, call_id: this.#callId, status }
    if (this.#kind === 'custom') {
      return { type: 'custom_tool_call', ...own, name: this.#name, input: isDone ? this.#input() : '' }
    }
    if (this.#kind === 'local_shell')
      return { type: 'local_shell_call', ...own, action: this.#action(isDone) }
    return { type: 'function_call', ...own, name: this.#name, arguments: isDone ? this.#whole() : '' }
  }

  #whole(): string {
    return this.#arguments === '' ? '{}' : this.#arguments
  }

  /** The one argument of a tool that takes free text. Some models send the text itself instead of JSON. */
  #input(): string {
    const input = parse(this.#arguments)?.input
    return typeof input === 'string' ? input : this.#arguments
  }

  #action(isDone: boolean): JsonObject {
    const given = isDone ? (parse(this.#arguments) ?? {}) : {}
    const command = Array.isArray(given.command)
      ? given.command.map(String)
      : (toText(given.command)?.split(' ') ?? [])
    const directory = toText(given.working_directory)
    return {
      type: 'exec',
      command,
      env: {},
      ...(typeof given.timeout_ms === 'number' ? { timeout_ms: Math.round(given.timeout_ms) } : {}),
      ...(directory === undefined ? {} : { working_directory: directory }),
    }
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    return toObject(parseInnerJson(text))
  } catch {
    return undefined
  }
}
