import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toText } from '../../../json/json-value.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import { parseInnerObject } from '../../shared/reading/parse-inner-json.ts'
import type { CalledTool } from '../../shared/requests/parsed-chat.ts'
import { toArgumentsOrEmpty } from '../../shared/tools/tool-arguments.ts'
import { BaseItem, type ItemStatus, type WireEvent } from './open-items.ts'

/** Commands have some hundred words, and systems take 128 KiB of them. */
const MAX_WORDS = 65_536

/** A call of one of the caller's tools, in the form that its tool has in this format. */
export class CallItem extends BaseItem {
  readonly #callId: string
  readonly #tool: CalledTool
  readonly #arguments = new KeptText()

  constructor(index: number, id: string, call: { callId: string; tool: CalledTool }) {
    super(index, id)
    this.#callId = call.callId
    this.#tool = call.tool
  }

  addArguments(text: string): WireEvent[] {
    this.#arguments.add(text)
    // The input of other kinds is unwrapped from JSON, which is possible at the end only.
    if (this.#tool.kind !== 'function' || text === '') return []
    return [this.at('response.function_call_arguments.delta', { delta: text })]
  }

  override close(): WireEvent[] {
    const events: WireEvent[] = []
    if (this.#tool.kind === 'function') {
      const whole = { name: this.#tool.name, arguments: this.#whole() }
      if (this.#arguments.length === 0) events.push(...this.addArguments(whole.arguments))
      events.push(this.at('response.function_call_arguments.done', whole))
    } else if (this.#tool.kind === 'custom') {
      const input = this.#input()
      events.push(this.at('response.custom_tool_call_input.delta', { delta: input }))
      events.push(this.at('response.custom_tool_call_input.done', { input }))
    }
    return [...events, ...super.close()]
  }

  toItem(status: ItemStatus): JsonObject {
    const isDone = status === 'completed'
    const { kind, name, namespace } = this.#tool
    const own: JsonObject = { id: this.id, call_id: this.#callId, status }
    if (kind === 'local_shell') return { type: 'local_shell_call', ...own, action: this.#action(isDone) }
    if (kind === 'tool_search') {
      const given = isDone ? toArgumentsOrEmpty(this.#arguments.toString()) : {}
      return { type: 'tool_search_call', ...own, execution: 'client', arguments: given }
    }
    own.name = name
    // Clients find the tool by both.
    if (namespace !== undefined && namespace !== '') own.namespace = namespace
    if (kind === 'custom') return { type: 'custom_tool_call', ...own, input: isDone ? this.#input() : '' }
    const sent = status === 'incomplete' ? this.#arguments.toString() : ''
    return { type: 'function_call', ...own, arguments: isDone ? this.#whole() : sent }
  }

  #whole(): string {
    return this.#arguments.length === 0 ? '{}' : this.#arguments.toString()
  }

  /** The one argument of a tool that takes free text. Some models send the text itself instead of JSON. */
  #input(): string {
    const text = this.#arguments.toString()
    const input = parseInnerObject(text)?.input
    return typeof input === 'string' ? input : text
  }

  #action(isDone: boolean): JsonObject {
    const given = isDone ? toArgumentsOrEmpty(this.#arguments.toString()) : {}
    const command = toWords(given.command)
    if (command.length > MAX_WORDS) throw new Error(`a command has more than ${MAX_WORDS} words`)
    const directory = toText(given.working_directory)
    return {
      type: 'exec',
      command: command.map(String),
      env: {},
      ...(typeof given.timeout_ms === 'number' ? { timeout_ms: Math.round(given.timeout_ms) } : {}),
      ...(directory === undefined ? {} : { working_directory: directory }),
    }
  }
}

/** Returns the words of a command, or one more than it may have. */
function toWords(command: Json | undefined): readonly Json[] {
  return Array.isArray(command) ? command : (toText(command)?.split(' ', MAX_WORDS + 1) ?? [])
}
