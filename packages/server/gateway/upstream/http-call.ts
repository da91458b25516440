import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import { type Dispatcher, util } from 'undici'
import type { ConnectionShare, ShareOwner } from '../../core/admission/connection-shares.ts'
import { toOwned } from '../../http/body/to-owned.ts'
import { mayPause } from '../../http/egress/patch-undici-parser.ts'
import { toUpstreamHeaders } from '../../http/egress/upstream-headers.ts'
import { loopTurns, SLICE_MS, type TurnTaker } from '../../http/fairness/loop-turns.ts'
import type { Borrower, Connection } from './connections.ts'
import { endOfPiece, LIGHT_MARKS, PIECE_MARKS } from './end-of-piece.ts'
import { toNetworkError } from './network-error.ts'
import { openedStreams } from './opened-streams.ts'
import { ABORTED } from './paced-aborts.ts'
import { ReadOnce, toReadOnce } from './read-once.ts'
import { noteChunk } from './stream-pace.ts'
import type { UpstreamCall, UpstreamHandler } from './transport.ts'
import type { TransportState } from './transport-state.ts'

/** How long the end of an answer may take once nothing more of it is needed, in milliseconds. */
const LINGER_MS = 2_000

/** Interim responses (1xx) of a call. Providers send none, proxies one or two. */
const MAX_INTERIM = 16

/** Shorter chunks of few events are processed in the tick that received them, and not timed. */
const LONG_CHUNK_BYTES = 8 * 1024

/**
 * One HTTP request to a provider, from its wait for a connection to the end of its answer.
 *
 * Uses undici's older handler interface. The newer one builds an object of all headers, about thirty in a provider's
 * answer, which a successful chat does not need.
 */
export class HttpCall implements Dispatcher.DispatchHandler, UpstreamCall, Borrower, TurnTaker {
  readonly owner: ShareOwner
  readonly origin: string
  share: ConnectionShare<Borrower> | undefined
  /** undefined once it was given to a connection: an answer that takes minutes does not keep it. */
  #request: UpstreamRequest | undefined
  readonly #handler: UpstreamHandler
  readonly #shared: TransportState
  /** The body of a streamed call, if it is long enough to be dropped once it is sent. */
  #body: ReadOnce | undefined
  #connection: Connection | undefined
  #isWaiting = true
  #abort: ((reason: Error) => void) | undefined
  #sentAt: number | undefined
  #resume: (() => void) | undefined
  #linger: NodeJS.Timeout | undefined
  #isPaused = false
  /** True during its turn, in which chunks that the socket has already read need no turns of their own. */
  #hasTurn = false
  /** A chunk, or the rest of one, that waits for a later tick. The call is paused until it is processed. */
  #chunk: Buffer | undefined
  /** What came after `#chunk`: one more read of the socket, or all that follows where the connection has ended. */
  #more: Buffer[] = []
  /** True once the stream has opened. */
  #hasOpened = false
  /** True if `#chunk` waits for the caller, who reads too slowly, and not for a turn. */
  #isParked = false
  /** How the answer ended while a chunk waited. The handler is told after the chunk. */
  #ended: 'complete' | Error | undefined
  /**
   * Short chunks of one read of the socket, except the first. A provider sends each event as a chunk of its own, and one
   * read often brings several: these are processed as one, which writes to the caller once. The first is processed at once,
   * so that undici stops reading if it fills the caller's connection.
   */
  readonly #short: Buffer[] = []
  #shortBytes = 0
  /** True from the first chunk of a read of the socket until all chunks of the read are here. */
  #isReading = false
  #done = false
  #interimCount = 0

  constructor(request: UpstreamRequest, handler: UpstreamHandler, owner: ShareOwner, shared: TransportState) {
    this.#request = request
    this.origin = request.origin
    this.#handler = handler
    this.owner = owner
    this.#shared = shared
  }

  get sentAt(): number | undefined {
    return this.#sentAt
  }

  get hasBody(): boolean {
    return this.#request !== undefined || this.#body?.isRead === false
  }

  get isWaiting(): boolean {
    return this.#isWaiting
  }

  take(connection: Connection): void {
    this.#isWaiting = false
    this.#connection = connection
    const request = this.#request as UpstreamRequest
    this.#request = undefined
    const { path, headers, body } = this.#handler.isStream === true ? toReadOnce(request) : request
    if (body instanceof ReadOnce) this.#body = body
    this.#shared.opening.owner = this.owner
    try {
      // undici accepts an iterable, which its types do not say.
      const options = {
        method: 'POST' as const,
        path,
        headers: toUpstreamHeaders(headers),
        body: body as Buffer,
      }
      connection.client.dispatch(options, this)
    } catch (error) {
      // The connection may be given by the end of another call, which must not fail.
      this.onError(error as Error)
    } finally {
      this.#shared.opening.owner = undefined
    }
  }

  reject(error: Error): void {
    this.onError(error)
  }

  abort(): void {
    if (this.#done) return
    this.#done = true
    this.#dropChunk()
    this.#takeShort()
    if (this.#isWaiting) this.#shared.connections.withdraw(this)
    // While the connection is being opened, onConnect ends the call.
    else if (this.#abort !== undefined) this.#shared.aborts.add(this.#abort)
  }

  finish(): void {
    if (this.#done || this.#ended !== undefined) return
    // The end of most answers arrives with their last bytes, and clears this within the same tick.
    this.#linger = setTimeout(abortCall, LINGER_MS, this)
    this.#linger.unref()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (this.#isParked) {
      this.#isParked = false
      loopTurns.wait(this)
    }
    this.#goOn()
  }

  /**
   * Processes the chunk that waited and, while the slice lasts, the rest of what the socket read with it. If each chunk
   * waited for a turn of its own, the memory of the whole read would stay until a full collection frees it.
   */
  takeTurn(): boolean {
    if (this.#isPaused) {
      this.#isParked = true
      return false
    }
    const chunk = this.#joinWaiting()
    this.#hasTurn = true
    if (chunk !== undefined && !this.#done) this.#deliverInPieces(chunk)
    if (this.#chunk === undefined) this.#endAfterRest()
    this.#goOn()
    this.#hasTurn = false
    return openedStreams.isFull
  }

  #goOn(): void {
    // After its end the connection may serve another call.
    if (this.#done || this.#ended !== undefined) return
    if (!this.#isPaused && this.#chunk === undefined) this.#resume?.()
  }

  onConnect(abort: (reason?: Error) => void): void {
    // At once: undici sends the request after this, unless it is aborted.
    if (this.#done) return abort(ABORTED)
    this.#abort = abort
    this.#sentAt = performance.now()
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (this.#done) return true
    if (status < 200) {
      // Without a bound a provider that sends nothing else would keep the event loop busy until the time-out.
      if (++this.#interimCount > MAX_INTERIM) this.#abort?.(new Error('too many interim responses'))
      return true
    }
    this.#resume = resume
    try {
      this.#handler.onStart(status, () => util.parseHeaders(headers))
    } catch (error) {
      this.#crash(error)
    }
    return !this.#isPaused
  }

  onData(chunk: Buffer): boolean {
    if (this.#done) return this.#isFlowing()
    if (this.#chunk !== undefined) {
      this.#more.push(toOwned(chunk))
      return this.#isFlowing()
    }
    if (!this.#isReading) {
      this.#isReading = true
      // Runs when the parser returns: all chunks of this read are here then.
      process.nextTick(endReadOf, this)
      this.#receive(chunk)
    } else {
      this.#shortBytes += chunk.length
      this.#short.push(chunk)
      // Many short chunks take as long as a long one, whatever they contain.
      if (this.#shortBytes >= LONG_CHUNK_BYTES || this.#short.length === LIGHT_MARKS)
        this.#deliverInTurn(this.#takeShort() as Buffer)
    }
    return this.#isFlowing()
  }

  onComplete(): void {
    this.#deliverShort()
    const connection = this.#connection as Connection
    this.#connection = undefined
    clearTimeout(this.#linger)
    this.#shared.connections.release(connection)
    this.#end('complete')
  }

  onError(error: Error): void {
    this.#deliverShort()
    this.#isWaiting = false
    if (this.#connection !== undefined) this.#shared.connections.discard(this.#connection)
    clearTimeout(this.#linger)
    this.#end(error)
  }

  /** Notes the end of the answer, which the handler is told once nothing of it waits. */
  #end(ended: 'complete' | Error): void {
    this.#ended = ended
    if (this.#chunk === undefined) this.#endAfterRest()
  }

  #endAfterRest(): void {
    const ended = this.#ended
    if (ended === undefined || this.#done) return
    this.#done = true
    try {
      if (ended === 'complete') this.#handler.onEnd()
      else this.#handler.onFail(toNetworkError(ended))
    } catch (another) {
      this.#crash(another)
    }
  }

  /** Delivers a light chunk at once, unless it may open a stream and enough of them opened in this tick. */
  #receive(chunk: Buffer): void {
    const mayOpen = this.#handler.isStream === true && !this.#hasOpened
    if (this.#isLight(chunk) && !(mayOpen && openedStreams.isFull)) this.#deliver(chunk)
    else this.#deliverInTurn(chunk)
  }

  #deliverInTurn(chunk: Buffer): void {
    const waitMs = this.#handler.isStream === true ? noteChunk(this.owner, chunk.length) : 0
    if (waitMs > 0 && mayPause()) {
      this.#chunk = chunk
      loopTurns.waitFor(this, waitMs)
    } else if (this.#handler.isOpening === true) {
      this.#chunk = chunk
      this.#waitWhileOpening()
    } else if (this.#hasTurn && loopTurns.hasTime) {
      this.#deliverInPieces(chunk)
    } else if ((loopTurns.isSpent || openedStreams.isFull) && mayPause()) {
      this.#chunk = chunk
      loopTurns.wait(this)
    } else {
      const startedAt = performance.now()
      this.#deliverInPieces(chunk)
      loopTurns.spend(performance.now() - startedAt, this.owner)
    }
  }

  /** Called when all chunks of a read of the socket are here. */
  endRead(): void {
    this.#isReading = false
    this.#deliverShort()
  }

  #deliverShort(): void {
    const chunk = this.#takeShort()
    if (chunk === undefined || this.#done) return
    this.#receive(chunk)
  }

  /** True for a chunk that takes less than a millisecond, whatever it contains. What is no stream is only kept. */
  #isLight(chunk: Buffer): boolean {
    if (chunk.length >= LONG_CHUNK_BYTES) return false
    return this.#handler.isStream !== true || endOfPiece(chunk, 0, LIGHT_MARKS) === chunk.length
  }

  #takeShort(): Buffer | undefined {
    const short = this.#short
    if (short.length === 0) return undefined
    const chunk = short.length === 1 ? (short[0] as Buffer) : Buffer.concat(short, this.#shortBytes)
    short.length = 0
    this.#shortBytes = 0
    return chunk
  }

  /**
   * Delivers a long chunk of a stream in pieces while the slice lasts, and lets the rest wait for a turn: 64 KiB of events that carry
   * nothing take as long to decode and encode as megabytes of text.
   */
  #deliverInPieces(chunk: Buffer): void {
    if (this.#handler.isStream !== true) return this.#deliver(chunk)
    const until = performance.now() + SLICE_MS
    for (let at = 0; ; ) {
      const end = endOfPiece(chunk, at, PIECE_MARKS)
      const piece = end - at === chunk.length ? chunk : chunk.subarray(at, end)
      this.#deliver(piece)
      at = end
      if (at === chunk.length || this.#done) return
      const isLater = this.#handler.isOpening === true || performance.now() >= until
      if (!isLater && !this.#isPaused) continue
      this.#chunk = chunk.subarray(at)
      if (this.#isPaused) this.#isParked = true
      else if (this.#handler.isOpening === true) this.#waitWhileOpening()
      else loopTurns.wait(this)
      return
    }
  }

  #deliver(chunk: Buffer): void {
    try {
      this.#handler.onData(toOwned(chunk))
    } catch (error) {
      this.#crash(error)
    }
    if (this.#handler.isOpening !== true) return
    this.#hasOpened = true
    openedStreams.note(chunk)
  }

  #joinWaiting(): Buffer | undefined {
    const [chunk, more] = [this.#chunk, this.#more]
    this.#chunk = undefined
    if (chunk === undefined || more.length === 0) return chunk
    this.#more = []
    return Buffer.concat([chunk, ...more])
  }

  /** Waits for a turn after this tick, at whose end the stream is read. Within a turn, `wait` could bring another one of the same tick. */
  #waitWhileOpening(): void {
    if (this.#hasTurn) setImmediate(waitWithChunk, this)
    else loopTurns.wait(this)
  }

  /** Queues what is left of a chunk. It is gone if the call was aborted meanwhile. */
  waitWithChunk(): void {
    if (this.#chunk !== undefined) loopTurns.wait(this)
  }

  #dropChunk(): void {
    if (this.#chunk === undefined) return
    this.#chunk = undefined
    this.#more = []
    this.#isParked = false
    loopTurns.withdraw(this)
  }

  #isFlowing(): boolean {
    return !(this.#isPaused || this.#chunk !== undefined) || !mayPause()
  }

  /**
   * Ends the call after an exception of its handler. The exception must not reach undici, which would not notify a
   * handler again that threw at the end of its answer.
   */
  #crash(error: unknown): void {
    this.abort()
    this.#handler.onCrash(error)
  }
}

function endReadOf(call: HttpCall): void {
  call.endRead()
}

function waitWithChunk(call: HttpCall): void {
  call.waitWithChunk()
}

function abortCall(call: UpstreamCall): void {
  call.abort()
}
