import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import { ANSWER_BOUNDS } from '@rideau/llm/json/body-bounds'
import { decodeText } from '@rideau/llm/json/decode-text'
import type { FieldSpan } from '@rideau/llm/json/field-span'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { Usage } from '@rideau/llm/usage/usage'
import { inputTokens, outputTokens } from '@rideau/llm/usage/usage-sums'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault } from '../../core/fault.ts'
import { parseLongJson, parseShortAnswer } from '../../http/body/parse-json.ts'
import { ReceivedChunks } from '../../http/body/received-chunks.ts'
import { batchInTick } from '../../http/fairness/batch-in-tick.ts'
import { takeTurn } from '../../http/fairness/sliced-work.ts'
import type { Charge } from '../billing/bill.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Transport, UpstreamCall, UpstreamHandler, UpstreamHeaders } from '../upstream/transport.ts'
import type { AttemptResult } from './attempt-result.ts'

/** What a call needs to follow the clock, to be stopped, and to get its share of connections, name lookups and memory. */
export type WatchedContext = Pick<RequestContext, 'watch' | 'unwatch' | 'fail' | 'permit' | keyof ShareOwner>

export interface WholeOptions {
  readonly ctx: WatchedContext
  readonly transport: Transport
  readonly request: UpstreamRequest
  /** Milliseconds within which the whole answer must arrive. */
  readonly timeoutMs: number
  /** The answer is no JSON, whatever its bytes are. */
  readonly isBinary?: true
}

interface ReceivedAnswer {
  readonly status: number
  readonly readHeaders: () => UpstreamHeaders
  readonly bytes: Buffer
}

/** A complete answer of any status. */
export interface WholeAnswer extends ReceivedAnswer {
  /** The body of a successful answer; undefined: it is not JSON. */
  readonly json:
    | { readonly value: unknown; readonly fields?: ReadonlyMap<string, FieldSpan> | undefined }
    | undefined
}

/** An error report larger than this is not read further: its status decides. */
const MAX_ERROR_BYTES = 256 * 1024
/** An answer larger than this is a provider's mistake, or an attack through a custom base URL. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * The answers that the caller's requests wait for take all the memory that it may have. Waiting would not end if each has a part of
 * its answer, and the same answer would be as large again.
 */
export const NO_ROOM: UpstreamError = {
  kind: 'overloaded',
  isFinal: true,
  detail: 'the answers that this caller waits for are too large together',
}

/** The request was stopped, by its caller, a cancel or another call of the same attempt. */
export const STOPPED: UpstreamError = { kind: 'interrupted', detail: 'the request was stopped' }

const NO_HEADERS = (): UpstreamHeaders => ({})

/** Decodes an answer; a promise if that takes its turns in the event loop. */
type Decode<T> = (answer: WholeAnswer) => AttemptResult<T> | Promise<AttemptResult<T>>

/**
 * One call for a complete answer. Resolves with a classified error when the call fails; rejects only for exceptions of
 * the gateway itself.
 */
export function attemptWhole<T>(options: WholeOptions, decode: Decode<T>): Promise<AttemptResult<T>> {
  return new Promise((resolve, reject) => {
    new WholeAttempt(options, decode, resolve, reject).start(options)
  })
}

class WholeAttempt<T> implements UpstreamHandler {
  readonly #ctx: WatchedContext
  readonly #timeoutMs: number
  readonly #isBinary: boolean
  readonly #decode: Decode<T>
  readonly #resolve: (result: AttemptResult<T> | Promise<AttemptResult<T>>) => void
  readonly #reject: (error: unknown) => void
  readonly #chunks = new ReceivedChunks()
  readonly #deadline: number
  /** A transport that is closing may fail before it returns the call. */
  #call: UpstreamCall | undefined
  #status = 0
  #readHeaders = NO_HEADERS

  constructor(
    { ctx, timeoutMs, isBinary }: WholeOptions,
    decode: Decode<T>,
    resolve: (result: AttemptResult<T> | Promise<AttemptResult<T>>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#ctx = ctx
    this.#timeoutMs = timeoutMs
    this.#isBinary = isBinary === true
    this.#decode = decode
    this.#resolve = resolve
    this.#reject = reject
    this.#deadline = performance.now() + timeoutMs
  }

  start({ ctx, transport, request }: WholeOptions): void {
    ctx.watch(
      now => {
        if (now > this.#deadline) this.#giveUp(toTimeout(this.#call, this.#timeoutMs, 'answer'))
      },
      () => this.#giveUp(STOPPED),
    )
    this.#call = transport.call(request, this, ctx)
  }

  onStart(status: number, readHeaders: () => UpstreamHeaders): void {
    this.#status = status
    this.#readHeaders = readHeaders
  }

  onData(chunk: Buffer): void {
    const chunks = this.#chunks
    if (this.#ctx.permit?.receive(chunk.length) === false) return this.#giveUp(NO_ROOM)
    chunks.add(chunk)
    if (chunks.size > MAX_ANSWER_BYTES) {
      this.#giveUp({ kind: 'unavailable', status: this.#status, detail: 'the answer exceeds 64 MiB' })
    } else if (chunks.size > MAX_ERROR_BYTES && isError(this.#status)) {
      this.#call?.abort()
      this.onEnd()
    }
  }

  onEnd(): void {
    this.#ctx.unwatch()
    batchInTick(() => {
      const joined = this.#chunks.join(this.#ctx)
      const result = joined instanceof Promise ? joined.then(bytes => this.#read(bytes)) : this.#read(joined)
      this.#resolve(result instanceof Promise ? result.then(each => this.#end(each)) : this.#end(result))
    }, this.#reject)
  }

  /** An answer that breaks off fails the attempt, however much of it arrived. */
  onFail(error: UpstreamError): void {
    const status = this.#status
    this.#fail(status === 0 ? error : { ...error, status }, false)
  }

  onCrash(error: unknown): void {
    this.#reject(error)
  }

  #read(bytes: Buffer): AttemptResult<T> | Promise<AttemptResult<T>> {
    const status = this.#status
    const readHeaders = this.#readHeaders
    return this.#isBinary
      ? readAnswer({ status, readHeaders, bytes, json: undefined }, this.#decode)
      : parseAndDecode(this.#ctx, { status, readHeaders, bytes }, this.#decode)
  }

  /** The bytes of a failed answer are dropped. Those of others are counted until the request ends. */
  #end(result: AttemptResult<T>): AttemptResult<T> {
    if (!result.ok) this.#ctx.permit?.dropReceived(this.#chunks.size)
    return result
  }

  #giveUp(error: UpstreamError): void {
    this.#call?.abort()
    // An error with a status was caused by the answer, not by the gateway's timeout or stop.
    this.#fail(error, error.status === undefined)
  }

  #fail(error: UpstreamError, isCutByUs: boolean): void {
    this.#ctx.unwatch()
    const sentAt = this.#call?.sentAt
    const charge = toCharge({ sentAt, status: this.#status, isCutByUs, bytes: this.#chunks.size })
    this.#resolve(this.#end({ ok: false, error, charge }))
  }
}

/** Returns a promise if the answer is so long that it is parsed in slices. */
function parseAndDecode<T>(
  ctx: WatchedContext,
  { status, readHeaders, bytes }: ReceivedAnswer,
  decode: Decode<T>,
): AttemptResult<T> | Promise<AttemptResult<T>> {
  if (isError(status)) return readAnswer({ status, readHeaders, bytes, json: undefined }, decode)
  let json: WholeAnswer['json']
  try {
    json = parseShortAnswer(bytes)
    if (json === undefined) return parseInSlices(ctx, { status, readHeaders, bytes }, decode)
  } catch {
    // Not JSON.
  }
  return readAnswer({ status, readHeaders, bytes, json }, decode)
}

async function parseInSlices<T>(
  ctx: WatchedContext,
  { status, readHeaders, bytes }: ReceivedAnswer,
  decode: Decode<T>,
): Promise<AttemptResult<T>> {
  let stop: Fault | undefined
  ctx.watch(undefined, fault => {
    stop = fault
  })
  let json: WholeAnswer['json']
  try {
    json = await parseLongJson(bytes, ANSWER_BOUNDS, () => stop, ctx)
    await takeTurn(ctx)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const answer = { status, readHeaders, bytes, json: undefined }
    return unreadable(answer, stop === undefined ? error.message : STOPPED.detail)
  } finally {
    ctx.unwatch()
  }
  return readAnswer({ status, readHeaders, bytes, json }, decode)
}

function isError(status: number): boolean {
  return status < 200 || status >= 300
}

/**
 * The error of an attempt whose time is up. One that waited for a connection all the time is an overload, and another
 * target may be tried; it never reached the provider. Waiting as long again at the same target would not help.
 */
export function toTimeout(
  call: UpstreamCall | undefined,
  timeoutMs: number,
  what: 'answer' | 'event',
): UpstreamError {
  return call?.isWaiting === true
    ? { kind: 'overloaded', shouldRetry: false, detail: `no connection was free in ${timeoutMs} ms` }
    : { kind: 'timeout', detail: `no ${what} in ${timeoutMs} ms` }
}

/** Providers may send anything: an exception of the decoder means that the answer cannot be read. */
function readAnswer<T>(answer: WholeAnswer, decode: Decode<T>): AttemptResult<T> | Promise<AttemptResult<T>> {
  const fail = (error: unknown): AttemptResult<T> =>
    unreadable(answer, `the answer cannot be read: ${String(error)}`)
  try {
    const decoded = decode(answer)
    return decoded instanceof Promise ? decoded.catch(fail) : decoded
  } catch (error) {
    return fail(error)
  }
}

/** A successful status with a body that is no answer. The provider made an answer, so it charges for it. */
export function unreadable<T>(
  { status, bytes }: WholeAnswer,
  detail: string,
  usage?: Usage,
): AttemptResult<T> & { ok: false } {
  return {
    ok: false,
    error: { kind: 'unavailable', status, detail },
    charge: { isAnswered: true, bytes: bytes.length, usage },
  }
}

/** An attempt that failed without an error report of the provider. `status` is 0 before the headers arrived. */
export interface AbandonedAttempt extends Pick<Charge, 'bytes' | 'usage'> {
  /** As of the call (transport.ts). */
  readonly sentAt: number | undefined
  readonly status: number
  /** The gateway ended the call: its caller left or canceled it, or its time was up. */
  readonly isCutByUs: boolean
}

/**
 * Why the provider may charge for an abandoned attempt. Returns undefined if the request was never sent or if the
 * status is an error: providers do not charge for those.
 */
export function toCharge({ sentAt, status, isCutByUs, bytes, usage }: AbandonedAttempt): Charge | undefined {
  if (sentAt === undefined || (status !== 0 && isError(status))) return undefined
  if (isCutByUs) return { isAnswered: false, bytes, usage, ms: performance.now() - sentAt }
  return { isAnswered: status !== 0, bytes, usage }
}

/** Returns the text of an error report. A longer one is cut, so that decoding it takes at most 25 ms. */
export function toErrorText(bytes: Buffer): string {
  return decodeText(bytes.length > MAX_ERROR_BYTES ? bytes.subarray(0, MAX_ERROR_BYTES) : bytes)
}

/** Does a successful answer report an error? Some formats have a null in its place. */
export function reportsError({ error }: JsonObject): boolean {
  return error !== undefined && error !== null
}

/** An error report beside which a provider counts what it charges; undefined: it counts nothing. */
export function toReportedCharge(usage: Usage | undefined, bytes: number): Charge | undefined {
  if (usage === undefined || inputTokens(usage) + outputTokens(usage) === 0) return undefined
  return { isAnswered: true, bytes, usage }
}

export type ParsedAnswer =
  | { readonly ok: true; readonly body: JsonObject }
  | (AttemptResult<never> & { readonly ok: false })

/** Returns the JSON object of a successful answer, or the error that the answer reports. */
export function parseAnswer(answer: WholeAnswer, decodeError: ClientFormat['decodeError']): ParsedAnswer {
  const { status, readHeaders, bytes, json } = answer
  if (isError(status)) {
    return { ok: false, error: decodeError(status, readHeaders(), toErrorText(bytes)) }
  }
  if (json === undefined) return unreadable(answer, 'the answer is not JSON')
  const body = json.value
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return unreadable(answer, 'the answer is not a JSON object')
  }
  return { ok: true, body: body as JsonObject }
}
