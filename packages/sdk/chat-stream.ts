import type { AttemptScope } from './attempt-scope.ts'
import type { ChatChunk } from './chat.ts'
import { parseJson, RideauConnectionError, RideauError, toStreamError } from './errors.ts'
import { toAbortReason } from './runtime.ts'
import { type SseEvent, SseParser } from './sse-parser.ts'
import type { ReadAnswer } from './transport.ts'

/** A stream whose first token is there: from now on a failure is the caller's to see. */
export interface OpenStream {
  readonly requestId: string | null
  /** Chunks that were read already, the last one with the first token. */
  readonly first: readonly ChatChunk[]
  /** The chunks after those. */
  readonly rest: AsyncGenerator<ChatChunk, void>
  /** Ends the request, if it still runs. */
  close(): void
  /** Returns what a failure of `rest` is for the caller. */
  toError(error: unknown): unknown
}

/** A gateway sends its first token after very few chunks without one. */
const MAX_CHUNKS_BEFORE_TOKEN = 64

/**
 * Reads a streamed answer up to its first token, so that whatever fails before can be tried again. `idleTimeoutMs` bounds
 * the silence afterwards; the gateway breaks it every 15 s with a comment.
 */
export function readStream(idleTimeoutMs: number): ReadAnswer<OpenStream> {
  return async (response, scope) => {
    const requestId = response.headers.get('x-request-id')
    const rest = readChunks(response, scope, requestId, idleTimeoutMs)
    const first: ChatChunk[] = []
    for (;;) {
      const { value, done } = await rest.next()
      if (done === true) break
      first.push(value)
      if (hasToken(value) || first.length === MAX_CHUNKS_BEFORE_TOKEN) break
    }
    scope.stopTimer()
    const close = (): void => scope.close()
    const toError = (error: unknown): unknown => scope.toError(error)
    return { requestId, first, rest, close, toError }
  }
}

function hasToken({ choices }: ChatChunk): boolean {
  return choices.some(({ delta, finish_reason }) => {
    if (finish_reason !== null && finish_reason !== undefined) return true
    const { role: _, ...given } = delta
    return Object.values(given).some(value => value !== null && value !== undefined && value !== '')
  })
}

async function* readChunks(
  response: Response,
  scope: AttemptScope,
  requestId: string | null,
  idleTimeoutMs: number,
): AsyncGenerator<ChatChunk, void> {
  let isDelivered = false
  for await (const { event, data } of readEvents(response, () => {
    // Until the first token the time-out of the attempt runs.
    if (isDelivered) scope.startTimer(idleTimeoutMs, 'The next part of the stream')
    return () => isDelivered && scope.stopTimer()
  })) {
    if (event === 'error') throw toStreamError(data, requestId)
    if (data === '[DONE]') return
    const chunk = parseJson(data) as ChatChunk | undefined
    if (chunk === undefined || !Array.isArray(chunk.choices)) {
      throw new RideauConnectionError('The stream has an event that is no chunk of an answer.')
    }
    isDelivered ||= hasToken(chunk)
    yield chunk
  }
  throw new RideauConnectionError('The stream ended before [DONE].')
}

/** `onRead` is called before each read and returns what to call after it. */
async function* readEvents(response: Response, onRead: () => () => void): AsyncGenerator<SseEvent, void> {
  const parser = new SseParser()
  for await (const text of readText(response, onRead)) yield* parser.push(text)
}

/**
 * Yields a body's text as it arrives. Uses `getReader`, because Safari's streams cannot be iterated. Where a body cannot
 * be read in parts, as by React Native's own fetch, all of it comes at the end.
 */
async function* readText(response: Response, onRead: () => () => void): AsyncGenerator<string, void> {
  const body = response.body as ReadableStream<Uint8Array> | null | undefined
  if (typeof body?.getReader !== 'function' || typeof TextDecoder === 'undefined') {
    const afterText = onRead()
    yield await response.text()
    afterText()
    return
  }
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const afterRead = onRead()
      const { value, done } = await reader.read()
      afterRead()
      if (done) break
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } finally {
    // An abandoned body would keep its connection. It may have failed already.
    reader.cancel().catch(() => {})
  }
}

/** A streamed answer. Iterate it once; leaving the loop cancels the request. */
export class ChatStream implements AsyncIterable<ChatChunk> {
  readonly #open: (signal: AbortSignal) => Promise<OpenStream>
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  #requestId: string | null = null
  #isUsed = false

  /** `outer` is the caller's own signal. Nothing is sent before the first chunk is asked for. */
  constructor(open: (signal: AbortSignal) => Promise<OpenStream>, outer: AbortSignal | undefined) {
    this.#open = open
    this.#outer = outer
  }

  /** The request's id, once the first chunk is there. */
  get requestId(): string | null {
    return this.#requestId
  }

  /** Ends the request. The loop over the chunks ends with an AbortError. */
  cancel(): void {
    this.#controller.abort()
  }

  [Symbol.asyncIterator](): AsyncGenerator<ChatChunk, void> {
    if (this.#isUsed) throw new RideauError('A stream can be iterated once.')
    this.#isUsed = true
    return this.#iterate()
  }

  /** Returns the text of the first choice, once the stream has ended. */
  async text(): Promise<string> {
    let text = ''
    for await (const { choices } of this) text += choices[0]?.delta.content ?? ''
    return text
  }

  async *#iterate(): AsyncGenerator<ChatChunk, void> {
    const outer = this.#outer
    const onAbort = (): void => this.#controller.abort(toAbortReason(outer as AbortSignal))
    if (outer?.aborted === true) onAbort()
    else outer?.addEventListener('abort', onAbort, { once: true })
    let opened: OpenStream | undefined
    try {
      opened = await this.#open(this.#controller.signal)
      this.#requestId = opened.requestId
      yield* opened.first
      yield* opened.rest
    } catch (error) {
      throw opened === undefined ? error : opened.toError(error)
    } finally {
      outer?.removeEventListener('abort', onAbort)
      opened?.close()
    }
  }
}
