import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { ContentPart, Message, ToolCall } from '../../../request/message.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import { InnerTexts } from '../../shared/inner-texts.ts'
import { isObject, listAt, objectAt, textAt } from '../../shared/read-fields.ts'
import { unpackReasoning } from '../wire/carried-reasoning.ts'
import { isHostedTool } from './check-tools.ts'

/** Input items as messages: what an assistant thought, said and called in one turn is one message. */
export function parseInput(value: Json | undefined, findings: TargetFindings): Message[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }]
  const reader = new InputReader(findings)
  for (const [at, item] of listAt(value, 'input').entries()) {
    const path = `input[${at}]`
    reader.read(objectAt(item, path), path)
  }
  return reader.finish()
}

function isToolList(name: string): boolean {
  return /^tools$/i.test(name)
}

interface Turn {
  text: string
  calls: ToolCall[]
  details: ReasoningDetail[]
}

class InputReader {
  readonly #findings: TargetFindings
  readonly #messages: Message[] = []
  readonly #carried = new InnerTexts()
  #turn: Turn | undefined

  constructor(findings: TargetFindings) {
    this.#findings = findings
  }

  read(item: JsonObject, path: string): void {
    const type = item.type === undefined || item.type === null ? 'message' : textAt(item.type, `${path}.type`)
    const handler = HANDLERS[type]
    if (handler !== undefined) {
      handler(this, item, path)
      this.#readToolList(item, path)
    } else if (type === 'item_reference') this.#findings.stateful.push(path)
    else this.#readOther(item, path)
  }

  finish(): Message[] {
    this.#flush()
    return this.#messages
  }

  readMessage(item: JsonObject, path: string): void {
    const role = textAt(item.role, `${path}.role`)
    if (role === 'assistant') {
      const turn = this.#openTurn(turn => turn.calls.length > 0)
      turn.text += this.#readSaid(item.content, `${path}.content`)
      return
    }
    const known = role === 'system' || role === 'developer' ? role : 'user'
    this.#add({ role: known, content: this.#readContent(item.content, `${path}.content`) })
  }

  readReasoning(item: JsonObject, path: string): void {
    const turn = this.#openTurn(() => false)
    const own = typeof item.id === 'string' ? { id: item.id } : {}
    if (typeof item.encrypted_content === 'string' && item.encrypted_content !== '') {
      this.#carried.addCarried(item.encrypted_content)
      const fault = this.#carried.findFault(path)
      if (fault !== undefined) throw fault
      for (const detail of unpackReasoning(item.encrypted_content, own)) turn.details.push(detail)
    }
  }

  readCall(id: Json | undefined, name: string, args: string, path: string): void {
    const turn = this.#openTurn(() => false)
    const callId = textAt(id, `${path}.call_id`)
    turn.calls.push({
      id: callId,
      type: 'function',
      function: { name, arguments: args === '' ? '{}' : args },
    })
  }

  readOutput(id: Json | undefined, output: Json | undefined, path: string): void {
    const content =
      typeof output === 'string' || Array.isArray(output)
        ? this.#readContent(output, `${path}.output`)
        : JSON.stringify(output ?? '')
    this.#add({ role: 'tool', tool_call_id: textAt(id, `${path}.call_id`), content })
  }

  /** Tools can come in an item of their own; anything else we do not know passes to a target of the same format. */
  #readOther(item: JsonObject, path: string): void {
    this.#readTools(item, path)
    this.#findings.nativeOnly.push(path)
  }

  /** Finds hosted tools in lists called `tools`, in any case and at any depth. */
  #readTools(item: JsonObject, path: string): void {
    this.#readToolList(item, path)
    for (const [name, value] of Object.entries(item)) {
      if (isToolList(name)) continue
      for (const each of Array.isArray(value) ? value : [value]) {
        if (isObject(each)) this.#readTools(each, `${path}.${name}`)
      }
    }
  }

  #readToolList(item: JsonObject, path: string): void {
    for (const name in item) {
      const value = item[name]
      if (value === null || value === undefined || !isToolList(name)) continue
      for (const [index, tool] of (Array.isArray(value) ? value : [value]).entries()) {
        if (isHostedTool(tool)) this.#findings.hosted.push(`${path}.${name}[${index}]`)
      }
    }
  }

  /** The assistant's turn that is being read, unless the next item cannot belong to it. */
  #openTurn(isOver: (turn: Turn) => boolean): Turn {
    if (this.#turn !== undefined && isOver(this.#turn)) this.#flush()
    this.#turn ??= { text: '', calls: [], details: [] }
    return this.#turn
  }

  #add(message: Message): void {
    this.#flush()
    this.#messages.push(message)
  }

  #flush(): void {
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined || (turn.text === '' && turn.calls.length === 0)) return
    this.#messages.push({
      role: 'assistant',
      content: turn.text === '' ? null : turn.text,
      ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls }),
      ...(turn.details.length === 0 ? {} : { reasoning_details: turn.details }),
    })
  }

  #readSaid(content: Json | undefined, path: string): string {
    if (typeof content === 'string') return content
    let text = ''
    for (const [at, value] of listAt(content, path).entries()) {
      const part = objectAt(value, `${path}[${at}]`)
      const isKept = this.#noteFile(part, `${path}[${at}]`)
      const said = typeof part.text === 'string' ? part.text : part.refusal
      // Any other part goes to a target of the same format only.
      if (typeof said === 'string') text += said
      else if (!isKept) this.#findings.nativeOnly.push(`${path}[${at}]`)
    }
    return text
  }

  /** Returns true where the part names a file in the provider's store. */
  #noteFile(part: JsonObject, path: string): boolean {
    const name = Object.keys(part).find(each => toPlainName(each) === 'fileid' && part[each] !== null)
    if (name !== undefined) this.#findings.stateful.push(`${path}.${name}`)
    return name !== undefined
  }

  #readContent(content: Json | undefined, path: string): string | ContentPart[] {
    if (typeof content === 'string') return content
    const parts: ContentPart[] = []
    for (const [at, value] of listAt(content, path).entries()) {
      const given = objectAt(value, `${path}[${at}]`)
      const part = toPart(given, `${path}[${at}]`)
      if (this.#noteFile(given, `${path}[${at}]`)) continue
      if (part === undefined) this.#findings.nativeOnly.push(`${path}[${at}]`)
      else parts.push(part)
    }
    // One text is sent as such: not everyone takes parts.
    const [only] = parts
    return parts.length === 1 && only?.type === 'text' ? String(only.text) : parts
  }
}

/** undefined: a part that other formats do not have, such as an uploaded file's id. */
function toPart(part: JsonObject, path: string): ContentPart | undefined {
  const type = textAt(part.type, `${path}.type`)
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return { type: 'text', text: textAt(part.text, `${path}.text`) }
  }
  if (type === 'input_image' && typeof part.image_url === 'string') {
    const detail = typeof part.detail === 'string' ? { detail: part.detail } : {}
    return { type: 'image_url', image_url: { url: part.image_url, ...detail } }
  }
  if (type === 'input_file' && typeof part.file_data === 'string') {
    const filename = typeof part.filename === 'string' ? { filename: part.filename } : {}
    return { type: 'file', file: { ...filename, file_data: part.file_data } }
  }
  if (type === 'input_audio' && isObject(part.input_audio)) return { type, input_audio: part.input_audio }
  return undefined
}

type Handler = (reader: InputReader, item: JsonObject, path: string) => void

const readOutput: Handler = (reader, item, path) =>
  reader.readOutput(item.call_id ?? item.id, item.output, path)

const HANDLERS: Readonly<Record<string, Handler | undefined>> = toTable({
  message: (reader, item, path) => reader.readMessage(item, path),
  reasoning: (reader, item, path) => reader.readReasoning(item, path),
  function_call: (reader, item, path) =>
    reader.readCall(
      item.call_id,
      textAt(item.name, `${path}.name`),
      textAt(item.arguments, `${path}.arguments`),
      path,
    ),
  custom_tool_call: (reader, item, path) =>
    reader.readCall(
      item.call_id,
      textAt(item.name, `${path}.name`),
      JSON.stringify({ input: item.input ?? '' }),
      path,
    ),
  local_shell_call: (reader, item, path) => {
    const { command, working_directory, timeout_ms } = objectAt(item.action, `${path}.action`)
    const args = JSON.stringify({ command, working_directory, timeout_ms })
    reader.readCall(item.call_id, 'local_shell', args, path)
  },
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  local_shell_call_output: readOutput,
})
