import { UNBOUNDED } from '@rideau/llm/json/json-bounds'
import { SlicedJsonScan } from '@rideau/llm/json/json-scan'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { answerSandbox } from '@rideau/llm/providers/sandbox/answer'
import { completeSandbox } from '@rideau/llm/providers/sandbox/complete'
import { answerEmbeddings } from '@rideau/llm/providers/sandbox/embed'
import { answerRerank } from '@rideau/llm/providers/sandbox/rerank'
import type { SandboxAnswer } from '@rideau/llm/providers/sandbox/sandbox-answer'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { runInSlices } from '../../http/fairness/sliced-work.ts'
import type { Transport, UpstreamCall, UpstreamHandler } from './transport.ts'

const LONG_BYTES = 256 * 1024

/**
 * Returns a transport that serves the sandbox's answers without a network. All code above a transport is the same as
 * for real providers.
 */
export function openSandboxTransport(): Transport {
  const running = new Set<SandboxCall>()
  return {
    call(request, handler, owner) {
      const call = new SandboxCall(handler, () => running.delete(call))
      running.add(call)
      // The body was encoded by the gateway from a caller's fields. A long one is parsed in slices, since parsing it at
      // once would block the event loop.
      if (request.body.length <= LONG_BYTES)
        call.play(answer(request, JSON.parse(request.body.toString('utf8'))))
      else void answerLong(request, call, owner)
      return call
    },
    async close() {
      for (const call of running) call.abort()
    },
  }
}

async function answerLong(request: UpstreamRequest, call: SandboxCall, owner: ShareOwner): Promise<void> {
  const scan = new SlicedJsonScan(request.body, UNBOUNDED)
  try {
    await runInSlices(scan, () => call.isDone, owner)
    if (scan.result?.ok === true) call.play(answer(request, scan.result.value as JsonObject))
    else call.fail()
  } catch {
    call.fail()
  }
}

function answer(request: UpstreamRequest, body: JsonObject): SandboxAnswer {
  const { path } = request
  if (path.endsWith('/completions') && !path.endsWith('/chat/completions')) return completeSandbox(body)
  if (path.endsWith('/embeddings')) return answerEmbeddings(body)
  return path.endsWith('/rerank') ? answerRerank(body) : answerSandbox(String(body.model), body)
}

class SandboxCall implements UpstreamCall {
  readonly sentAt = performance.now()
  readonly isWaiting = false
  /** The sandbox's answers may repeat it. */
  readonly hasBody = true
  readonly #handler: UpstreamHandler
  readonly #onDone: () => void
  #timer: NodeJS.Timeout | undefined
  /** The calls of the handler still to make, in order. */
  #steps: (() => void)[] = []
  #isPaused = false
  #isScheduled = false
  #isDone = false

  constructor(handler: UpstreamHandler, onDone: () => void) {
    this.#handler = handler
    this.#onDone = onDone
  }

  play(answered: SandboxAnswer): void {
    this.#steps = this.#script(answered)
    const delayMs = 'delayMs' in answered ? answered.delayMs : 0
    if (delayMs === 0) this.#schedule()
    else this.#timer = setTimeout(() => this.#schedule(), delayMs)
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Fails the call, since the sandbox cannot parse its request. */
  fail(): void {
    this.#steps = [
      () => this.#handler.onFail({ kind: 'unavailable', detail: 'the sandbox could not parse the request' }),
    ]
    this.#schedule()
  }

  abort(): void {
    clearTimeout(this.#timer)
    this.#finish()
  }

  /** Does nothing: a script ends by itself. */
  finish(): void {}

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#schedule()
  }

  #script(answered: SandboxAnswer): (() => void)[] {
    const handler = this.#handler
    const broken = (): void =>
      handler.onFail({ kind: 'interrupted', detail: 'the sandbox broke the connection' })
    if (answered.kind === 'timeout') {
      return [() => handler.onFail({ kind: 'timeout', detail: 'the sandbox never answers' })]
    }
    if (answered.kind === 'cut') return [() => handler.onStart(200, () => ({})), broken]
    if (answered.kind === 'reply') {
      return [
        () => handler.onStart(answered.status, () => answered.headers),
        () => handler.onData(Buffer.from(JSON.stringify(answered.body))),
        () => handler.onEnd(),
      ]
    }
    return [
      () => handler.onStart(200, () => ({ 'content-type': 'text/event-stream' })),
      ...answered.events.map(event => () => handler.onData(Buffer.from(`data: ${event}\n\n`))),
      answered.isCut ? broken : () => handler.onEnd(),
    ]
  }

  /** Calls the handler in a later tick, as a socket would, and never within `call`. */
  #schedule(): void {
    if (this.#isScheduled || this.#isDone) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      try {
        this.#runSteps()
      } catch (error) {
        this.#crash(error)
      }
    })
  }

  #runSteps(): void {
    while (!this.#isPaused && !this.#isDone) {
      const step = this.#steps.shift()
      if (step === undefined) return this.#finish()
      step()
    }
  }

  /** Ends the call after an exception of its handler, as the HTTP transport does. */
  #crash(error: unknown): void {
    this.#finish()
    this.#handler.onCrash(error)
  }

  #finish(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#steps = []
    this.#onDone()
  }
}
