import { openAwsEventStreamParser } from '@rideau/llm/frames/aws-event-stream'
import { GOOGLE_READERS } from './google-readers.ts'

/** What a caller reads from an answer in its own format. */
export interface ServedAnswer {
  readonly text: string
  /** Name and arguments of each call, in order. */
  readonly calls: readonly (readonly [name: string, text: string])[]
  /** Why the model stopped, in the words of the format; absent: the answer did not end as a whole one does. */
  readonly finish: string | undefined
  /** The code of the error that ended the answer. */
  readonly code: string | undefined
}

// biome-ignore lint: JSON of any format
type Body = any

class Reading implements ServedAnswer {
  text = ''
  readonly #calls = new Map<unknown, { name: string; text: string }>()
  finish: string | undefined
  code: string | undefined

  /** Notes a piece of a call, which its key names. */
  addCall(key: unknown, name: string | undefined, text: string): void {
    const known = this.#calls.get(key)
    if (known === undefined) this.#calls.set(key, { name: name ?? '', text })
    else known.text += text
  }

  /** Throws if a call that ends is not whole. */
  endCall(key: unknown): void {
    const call = this.#calls.get(key)
    if (call !== undefined) JSON.parse(call.text)
  }

  addWholeCall(name: string, input: unknown): void {
    this.addCall(Symbol(), name, JSON.stringify(input))
  }

  get calls(): (readonly [string, string])[] {
    return [...this.#calls.values()].map(({ name, text }) => [name, text] as const)
  }

  toJSON(): ServedAnswer {
    const { text, calls, finish, code } = this
    return { text, calls, finish, code }
  }
}

interface SseBlock {
  readonly event: string
  readonly data: string
}

/** The events of a stream, in which nothing but events, comments and blank lines may stand. */
function toBlocks(bytes: Buffer): SseBlock[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  if (text !== '' && !/\r?\n\r?\n$/.test(text))
    throw new Error(`the last event has no end: ${text.slice(-200)}`)
  return text.split(/\r?\n\r?\n/).flatMap(block => {
    const lines = block.split(/\r?\n/).filter(line => line !== '' && !line.startsWith(':'))
    if (lines.length === 0) return []
    const found: Record<string, string> = {}
    for (const line of lines) {
      const [, name = '', value = ''] = /^(event|data): ?(.*)$/.exec(line) ?? []
      if (name === '' || found[name] !== undefined) throw new Error(`not a line of an event: ${line}`)
      found[name] = value
    }
    return [{ event: found.event ?? '', data: found.data ?? '' }]
  })
}

const parse = (data: string): Body => JSON.parse(data) as Body

/** Chunks of OpenAI's chat, and the native ones, which differ in their error only. */
function readChatStream(bytes: Buffer): ServedAnswer {
  const seen = new Reading()
  let finish: string | undefined
  for (const { data } of toBlocks(bytes)) {
    if (seen.finish !== undefined || seen.code !== undefined) throw new Error(`behind the end: ${data}`)
    if (data === '[DONE]') {
      seen.finish = finish ?? 'none'
      continue
    }
    const chunk = parse(data)
    if (chunk.error !== undefined) seen.code = chunk.error.code
    for (const { delta, finish_reason: reason } of chunk.choices ?? []) {
      seen.text += (delta.content ?? '') + (delta.refusal ?? '')
      for (const { index, function: fn } of delta.tool_calls ?? []) {
        seen.addCall(index, fn.name, fn.arguments ?? '')
      }
      finish = reason ?? finish
    }
  }
  return seen
}

/** Throws if the last event has other items than the events before it. */
function expectItems({ output }: Body, ended: ReadonlyMap<number, Body>, text: string): void {
  if (JSON.stringify(output) !== JSON.stringify([...ended.values()]))
    throw new Error(`the answer has other items than its events: ${JSON.stringify(output)}`)
  const parts: Body[] = output.flatMap((item: Body) => (item.type === 'message' ? item.content : []))
  const found = parts.map(part => part.text ?? part.refusal).join('')
  if (found !== text) throw new Error(`the answer has another text than its events: ${found}`)
}

/** Events of Responses, each with its number. */
function readResponsesStream(bytes: Buffer): ServedAnswer {
  const seen = new Reading()
  let last = -1
  let begun = 0
  const ended = new Map<number, Body>()
  for (const { event, data } of toBlocks(bytes)) {
    const body = parse(data)
    if (body.type !== event) throw new Error(`${event} is ${body.type}`)
    if (!(body.sequence_number > last))
      throw new Error(`${event} has number ${body.sequence_number} after ${last}`)
    last = body.sequence_number
    if (seen.finish !== undefined || seen.code !== undefined) throw new Error(`behind the end: ${data}`)
    if (event === 'response.created' && ++begun > 1) throw new Error('the response begins again')
    if (/^response\.(?:output_text|refusal)\.delta$/.test(event)) seen.text += body.delta
    if (event === 'response.output_item.added' && body.item.type === 'function_call')
      seen.addCall(body.output_index, body.item.name, '')
    if (event === 'response.function_call_arguments.delta')
      seen.addCall(body.output_index, undefined, body.delta)
    if (event === 'response.output_item.done') {
      ended.set(body.output_index, body.item)
      seen.endCall(body.output_index)
    }
    for (const item of body.response?.output ?? []) {
      if (item.type === 'function_call' && item.status === 'completed') JSON.parse(item.arguments)
    }
    if (event === 'response.completed') seen.finish = 'completed'
    if (event === 'response.incomplete') seen.finish = body.response.incomplete_details.reason
    if (seen.finish !== undefined) expectItems(body.response, ended, seen.text)
    if (event === 'error') seen.code = body.code
  }
  return seen
}

/** One event of Anthropic's format. Blocks must begin and end one after the other. */
class MessageReading extends Reading {
  #open = false
  #stop: string | undefined

  add(body: Body): void {
    if (this.finish !== undefined || this.code !== undefined) throw new Error(`behind the end: ${body.type}`)
    const { type, index, content_block: block, delta } = body
    if (type === 'content_block_start') {
      if (this.#open) throw new Error('a block begins within another')
      this.#open = true
      if (block.type === 'tool_use') this.addCall(index, block.name, '')
      if (block.type === 'text') this.text += block.text
    } else if (type === 'content_block_stop') {
      this.#open = false
      this.endCall(index)
    } else if (type === 'content_block_delta') {
      this.text += delta.text ?? ''
      if (delta.partial_json !== undefined) this.addCall(index, undefined, delta.partial_json)
    } else if (type === 'message_delta') {
      if (this.#open) throw new Error('the answer ends within a block')
      this.#stop = delta.stop_reason
    } else if (type === 'message_stop') this.finish = this.#stop ?? 'none'
    else if (type === 'error') this.code = body.error.code
  }
}

function readMessageStream(bytes: Buffer): ServedAnswer {
  const seen = new MessageReading()
  for (const { event, data } of toBlocks(bytes)) {
    const body = parse(data)
    if (body.type !== event) throw new Error(`${event} is ${body.type}`)
    if (event !== 'ping') seen.add(body)
  }
  return seen
}

function readCandidates(seen: Reading, chunks: readonly Body[]): ServedAnswer {
  for (const chunk of chunks) {
    if (chunk.error !== undefined) seen.code = chunk.error.details?.[0]?.reason ?? chunk.error.status
    const [candidate] = chunk.candidates ?? []
    for (const { text, functionCall: call } of candidate?.content?.parts ?? []) {
      if (call === undefined) seen.text += text ?? ''
      else seen.addWholeCall(call.name, call.args)
    }
    seen.finish = candidate?.finishReason ?? seen.finish
  }
  return seen
}

/** An error comes as an event, and once more as JSON behind all events, which Google's own clients throw. */
function readGeminiStream(bytes: Buffer): ServedAnswer {
  const text = bytes.toString('utf8')
  const end = text.lastIndexOf('\r\n\r\n') + 4
  const chunks = toBlocks(Buffer.from(text.slice(0, end))).map(({ data }) => parse(data))
  for (const [client, readEvents] of Object.entries(GOOGLE_READERS)) {
    const found = readEvents(text.slice(0, end)).map(parse)
    if (JSON.stringify(found) !== JSON.stringify(chunks)) throw new Error(`${client} reads other events`)
  }
  const behind = text.slice(end)
  if (behind !== '') expectSame(parse(behind), chunks.at(-1))
  return readCandidates(new Reading(), chunks)
}

function expectSame(behind: Body, last: Body): void {
  if (JSON.stringify(behind) !== JSON.stringify(last))
    throw new Error(`not the error: ${JSON.stringify(behind)}`)
}

interface AwsEvent {
  readonly event: string
  readonly body: Body
}

function toAwsEvents(bytes: Buffer): AwsEvent[] {
  const events: AwsEvent[] = []
  const parser = openAwsEventStreamParser(({ event, data }) => events.push({ event, body: parse(data) }))
  parser.push(bytes)
  parser.end()
  return events
}

function readConverseStream(bytes: Buffer): ServedAnswer {
  const seen = new Reading()
  const open = new Set<number>()
  let stop: string | undefined
  for (const { event, body } of toAwsEvents(bytes)) {
    if (seen.finish !== undefined || seen.code !== undefined) throw new Error(`behind the end: ${event}`)
    const use = body.start?.toolUse
    if (use !== undefined) seen.addCall(body.contentBlockIndex, use.name, '')
    seen.text += body.delta?.text ?? ''
    if (body.delta?.toolUse !== undefined)
      seen.addCall(body.contentBlockIndex, undefined, body.delta.toolUse.input)
    if (body.start !== undefined || body.delta !== undefined) open.add(body.contentBlockIndex)
    if (event === 'contentBlockStop') {
      open.delete(body.contentBlockIndex)
      seen.endCall(body.contentBlockIndex)
    }
    if (event === 'messageStop') {
      if (open.size > 0) throw new Error('the answer ends within a block')
      stop = body.stopReason
    }
    if (event === 'metadata') seen.finish = stop ?? 'none'
    if (event.startsWith('exception:')) seen.code = body.code
  }
  return seen
}

/** Anthropic's events in frames of AWS. */
function readInvokeStream(bytes: Buffer): ServedAnswer {
  const seen = new MessageReading()
  for (const { event, body } of toAwsEvents(bytes)) {
    if (event === 'chunk') seen.add(parse(Buffer.from(body.bytes, 'base64').toString('utf8')))
    if (event.startsWith('exception:')) seen.code = body.code
  }
  return seen
}

/** Cohere's client for Go fails on a block that has no data. */
function readCohereStream(bytes: Buffer): ServedAnswer {
  const seen = new Reading()
  const empty = bytes
    .toString('utf8')
    .split('\n\n')
    .slice(0, -1)
    .find(block => !/^data:/m.test(block))
  if (empty !== undefined) throw new Error(`a block without data: ${empty}`)
  for (const { data } of toBlocks(bytes)) {
    if (data === '[DONE]') continue
    const { type, index, delta } = parse(data)
    if (seen.finish !== undefined || seen.code !== undefined) throw new Error(`behind the end: ${type}`)
    seen.text += delta?.message?.content?.text ?? ''
    const call = delta?.message?.tool_calls
    if (type === 'tool-call-start') seen.addCall(index, call.function.name, call.function.arguments)
    if (type === 'tool-call-delta') seen.addCall(index, undefined, call.function.arguments)
    if (type === 'tool-call-end') seen.endCall(index)
    if (type === 'message-end' && delta.code !== undefined) seen.code = delta.code
    else if (type === 'message-end') seen.finish = delta.finish_reason
  }
  return seen
}

function readOllamaStream(bytes: Buffer): ServedAnswer {
  const seen = new Reading()
  const text = bytes.toString('utf8')
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.slice(0, -1).split('\n')) {
    const body = parse(line)
    if (seen.finish !== undefined || seen.code !== undefined) throw new Error(`behind the end: ${line}`)
    if (body.error !== undefined) seen.code = body.code
    seen.text += body.message?.content ?? ''
    for (const { function: fn } of body.message?.tool_calls ?? []) seen.addWholeCall(fn.name, fn.arguments)
    if (body.done === true) seen.finish = body.done_reason
  }
  return seen
}

/** Reads a stream of each format strictly: what is no whole event of it throws. */
export const SERVED_STREAMS: Readonly<Record<string, (bytes: Buffer) => ServedAnswer>> = {
  native: readChatStream,
  'openai-chat': readChatStream,
  'openai-responses': readResponsesStream,
  'anthropic-messages': readMessageStream,
  'gemini-content': readGeminiStream,
  'gemini-list': bytes => readCandidates(new Reading(), parse(bytes.toString('utf8'))),
  'bedrock-converse': readConverseStream,
  'bedrock-invoke': readInvokeStream,
  'cohere-v2': readCohereStream,
  'ollama-chat': readOllamaStream,
}

const reasonOf = (finish: unknown): string => String(finish ?? 'none')

function readChatReply({ choices: [{ message, finish_reason: reason }] }: Body): ServedAnswer {
  const seen = new Reading()
  seen.text = (message.content ?? '') + (message.refusal ?? '')
  for (const { id, function: fn } of message.tool_calls ?? []) seen.addCall(id, fn.name, fn.arguments)
  seen.finish = reasonOf(reason)
  return seen
}

function readResponsesReply({ status, incomplete_details: cut, output }: Body): ServedAnswer {
  const seen = new Reading()
  for (const item of output) {
    if (item.type === 'function_call') seen.addCall(item.id, item.name, item.arguments)
    for (const part of item.type === 'message' ? item.content : []) seen.text += part.text ?? part.refusal
  }
  seen.finish = reasonOf(cut?.reason ?? status)
  return seen
}

function readMessageReply({ content, stop_reason: reason }: Body): ServedAnswer {
  const seen = new Reading()
  for (const block of content) {
    if (block.type === 'tool_use') seen.addWholeCall(block.name, block.input)
    else seen.text += block.text
  }
  seen.finish = reasonOf(reason)
  return seen
}

function readConverseReply({ output, stopReason }: Body): ServedAnswer {
  const seen = new Reading()
  for (const { text, toolUse } of output.message.content) {
    if (toolUse !== undefined) seen.addWholeCall(toolUse.name, toolUse.input)
    else seen.text += text
  }
  seen.finish = reasonOf(stopReason)
  return seen
}

function readCohereReply({ message, finish_reason: reason }: Body): ServedAnswer {
  const seen = new Reading()
  for (const { text } of message.content ?? []) seen.text += text
  for (const { id, function: fn } of message.tool_calls ?? []) seen.addCall(id, fn.name, fn.arguments)
  seen.finish = reasonOf(reason)
  return seen
}

function readOllamaReply({ message, done_reason: reason }: Body): ServedAnswer {
  const seen = new Reading()
  seen.text = message.content
  for (const { function: fn } of message.tool_calls ?? []) seen.addWholeCall(fn.name, fn.arguments)
  seen.finish = reasonOf(reason)
  return seen
}

/** Reads a plain answer of each format. */
export const SERVED_REPLIES: Readonly<Record<string, (body: Body) => ServedAnswer>> = {
  native: readChatReply,
  'openai-chat': readChatReply,
  'openai-responses': readResponsesReply,
  'anthropic-messages': readMessageReply,
  'gemini-content': body => readCandidates(new Reading(), [body]),
  'bedrock-converse': readConverseReply,
  'cohere-v2': readCohereReply,
  'ollama-chat': readOllamaReply,
}
