import type { Socket } from 'node:net'
import { FrameReader, HEADER_BYTES, MAX_FRAME_BYTES, writeHeader } from './frames.ts'
import { CONTROL_TOPIC, type Topic } from './topic.ts'

export interface LinkOptions {
  readonly socket: Socket
  /** Called with the peer's first frame, its hello or welcome. What it throws ends this connection. */
  readonly onFirst: (text: string) => void
  /** Called once, when the connection has ended. */
  readonly onClosed: (reason: string) => void
  /** A peer that sent nothing for `silentMs` has hung. It is asked for a sign of life every `heartbeatMs`. */
  readonly heartbeatMs?: number | undefined
  readonly silentMs?: number | undefined
}

const HEARTBEAT_MS = 500
const SILENT_MS = 3000
/** A first frame is short: until it has arrived, a peer cannot make this process buffer more. */
const MAX_FIRST_BYTES = 4096
/** A peer that leaves more than this unread has hung. */
const MAX_UNSENT_BYTES = 4 * MAX_FRAME_BYTES

const PING = Buffer.from('?')
const PONG = Buffer.from('!')

/** One connection between a worker and the supervisor: frames in both directions, the same on both sides. */
export class Link {
  readonly #options: LinkOptions
  readonly #socket: Socket
  readonly #topics: (Topic | undefined)[] = []
  readonly #reader: FrameReader
  readonly #timer: NodeJS.Timeout
  /** Numbers of the topics that have something to send. */
  #pending: number[] = []
  #isScheduled = false
  #isFirst = true
  #isOpen = true
  #receivedAt = performance.now()

  constructor(options: LinkOptions) {
    this.#options = options
    const { socket, heartbeatMs = HEARTBEAT_MS } = options
    this.#socket = socket
    this.#reader = new FrameReader(MAX_FIRST_BYTES, (topic, payload) => this.#receive(topic, payload))
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', error => this.close(error.message))
    socket.on('close', () => this.close('the connection has ended'))
    this.#timer = setInterval(() => this.#beat(), heartbeatMs)
    this.#timer.unref()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends a hello or a welcome. */
  sendFirst(text: string): void {
    this.#sendControl(Buffer.from(text))
  }

  setTopic(number: number, topic: Topic): void {
    this.#topics[number] = topic
  }

  /**
   * Sends what this topic has after the code that runs now and the microtasks that wait already. The journal writes the
   * record of an ended request in an earlier one, and its last byte is sent in a later one: so the supervisor has the
   * settlement before the caller can send its next request to another worker.
   */
  schedule(number: number): void {
    if (!this.#isOpen) return
    if (!this.#pending.includes(number)) this.#pending.push(number)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => this.#sendPending())
  }

  /** Sends what the scheduled topics have, as one write. */
  #sendPending(): void {
    this.#isScheduled = false
    if (this.#pending.length === 0 || !this.#isOpen) return
    const numbers = this.#pending
    this.#pending = []
    try {
      if (numbers.length > 1) this.#socket.cork()
      for (const number of numbers) {
        const frame = this.#topics[number]?.take()
        if (frame !== undefined) this.#write(frame, number)
      }
      if (numbers.length > 1) this.#socket.uncork()
    } catch (error) {
      this.close((error as Error).message)
    }
  }

  /** Ends the connection. What the peer has sent and this side has not read is ignored. */
  close(reason: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearInterval(this.#timer)
    this.#socket.destroy()
    this.#options.onClosed(reason)
    for (const topic of this.#topics) topic?.closed(reason)
  }

  #read(chunk: Buffer): void {
    this.#receivedAt = performance.now()
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.close(`the peer sent what is not understood: ${(error as Error).message}`)
    }
  }

  #receive(number: number, payload: Buffer): void {
    if (!this.#isOpen) return
    if (this.#isFirst) {
      if (number !== CONTROL_TOPIC) throw new Error('no hello')
      this.#isFirst = false
      this.#reader.maxBytes = MAX_FRAME_BYTES
      return this.#options.onFirst(payload.toString())
    }
    if (number === CONTROL_TOPIC) {
      if (payload.equals(PING)) this.#sendControl(PONG)
      return
    }
    const topic = this.#topics[number]
    if (topic === undefined) throw new Error(`no topic has the number ${number}`)
    topic.receive(payload)
  }

  #sendControl(payload: Buffer): void {
    this.#write(Buffer.concat([Buffer.alloc(HEADER_BYTES), payload]), CONTROL_TOPIC)
  }

  #write(frame: Buffer, number: number): void {
    writeHeader(frame, number)
    this.#socket.write(frame)
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.close('the peer does not read')
  }

  #beat(): void {
    const { silentMs = SILENT_MS } = this.#options
    const silentFor = performance.now() - this.#receivedAt
    if (silentFor < silentMs) {
      if (!this.#isFirst) this.#sendControl(PING)
      return
    }
    // If this process was the one that hung, the peer's frames wait in the socket: immediates run after it was read.
    const { bytesRead } = this.#socket
    setImmediate(() => {
      if (this.#socket.bytesRead === bytesRead) this.close(`the peer sent nothing for ${silentMs} ms`)
    })
  }
}
