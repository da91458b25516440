/** Records the answer of a request with an idempotency key while it is sent; see idempotency/first-answer.ts. */
export interface AnswerRecorder {
  /** Records a frame of a stream. */
  add(frame: string | Uint8Array): void
  /** Keeps a whole answer. Resolves once it is stored, before anything of it is sent. Never rejects. */
  keepWhole(headers: readonly string[], body: Buffer): Promise<void>
  /** Keeps a stream that came to its end. Resolves once it is stored, before its last frames are sent. Never rejects. */
  keepStream(headers: readonly string[], lastFrames: readonly (string | Uint8Array)[]): Promise<void>
  /** Called when the request has ended. If no answer was kept, the key is free. Idempotent. */
  end(): void
}
