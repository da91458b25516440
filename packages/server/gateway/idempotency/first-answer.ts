import type { BodyMemory } from '../../http/body/body-memory.ts'
import type { AnswerRecorder } from '../request/answer-recorder.ts'
import { MAX_ANSWER_BYTES, type StoredAnswer, toStoredHeaders } from './stored-answer.ts'

/** Who waits for the answer; see idempotency-group.ts. */
export interface AnswerReceiver {
  /** Stores the answer and hands it to all that wait. Never rejects. */
  keep(answer: StoredAnswer): Promise<void>
  /** There is no answer: another request may make one. */
  next(): void
}

const NOTHING = Buffer.alloc(0)
const FIRST_BYTES = 4 * 1024
/** What a frame takes besides its bytes. */
const FRAME_BYTES = 8

/**
 * Records what the first request of a key is answered. A stream that is larger than what is kept, or than the credential's
 * share of the memory for bodies, is recorded no further: its key is free once it has ended.
 */
export class FirstAnswer implements AnswerRecorder {
  readonly #receiver: AnswerReceiver
  readonly #memory: BodyMemory | undefined
  readonly #frames: number[] = []
  #bytes: Buffer = NOTHING
  #length = 0
  #isRecording = true
  #isEnded = false

  constructor(receiver: AnswerReceiver, memory: BodyMemory | undefined) {
    this.#receiver = receiver
    this.#memory = memory
  }

  add(frame: string | Uint8Array): void {
    if (!this.#isRecording || frame.length === 0) return
    const size = typeof frame === 'string' ? Buffer.byteLength(frame) : frame.length
    if (!this.#hasRoom(size)) return this.#stop()
    // Copied, because a chunk may be a part of a much larger buffer.
    if (typeof frame === 'string') this.#bytes.write(frame, this.#length)
    else this.#bytes.set(frame, this.#length)
    this.#length += size
    this.#frames.push(size)
  }

  async keepWhole(headers: readonly string[], body: Buffer): Promise<void> {
    if (this.#isEnded || body.length > MAX_ANSWER_BYTES) return
    await this.#keep({ headers: toStoredHeaders(headers), frames: undefined, body })
  }

  async keepStream(headers: readonly string[], lastFrames: readonly (string | Uint8Array)[]): Promise<void> {
    for (const frame of lastFrames) this.add(frame)
    if (this.#isEnded || !this.#isRecording) return
    const body = this.#bytes.subarray(0, this.#length)
    await this.#keep({ headers: toStoredHeaders(headers), frames: this.#frames, body })
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stop()
    this.#receiver.next()
  }

  async #keep(answer: StoredAnswer): Promise<void> {
    this.#isEnded = true
    // The last frames are recorded before they are sent.
    this.#isRecording = false
    await this.#receiver.keep(answer)
  }

  #stop(): void {
    this.#isRecording = false
    this.#bytes = NOTHING
    this.#frames.length = 0
  }

  #hasRoom(size: number): boolean {
    const needed = this.#length + size
    if (needed + FRAME_BYTES * this.#frames.length > MAX_ANSWER_BYTES) return false
    if (needed <= this.#bytes.length) return true
    const capacity = Math.max(FIRST_BYTES, needed, Math.min(2 * this.#bytes.length, MAX_ANSWER_BYTES))
    if (this.#memory?.acquire(capacity - this.#bytes.length) !== undefined) return false
    const larger = Buffer.allocUnsafeSlow(capacity)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
    return true
  }
}
