/** Reads choices from the front of a fuzzer's bytes, so that one input holds both the text and how it is cut. */
export class Input {
  private at = 0
  private readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** 0 to 255; 0 once the bytes are used up. */
  byte(): number {
    return this.bytes[this.at++] ?? 0
  }

  word(): number {
    return this.byte() * 256 + this.byte()
  }

  take(length: number): Buffer {
    const taken = this.bytes.subarray(this.at, this.at + length)
    this.at += length
    return taken
  }

  rest(): Buffer {
    return this.take(this.bytes.length)
  }
}

/** Cuts bytes into chunks whose lengths follow from `choice`: all at once, byte by byte, or of changing lengths. */
export function cut(bytes: Buffer, choice: number): Buffer[] {
  if (choice === 0) return [bytes]
  const chunks: Buffer[] = []
  let step = choice
  for (let at = 0; at < bytes.length; ) {
    // A small generator of its own: the cuts must be the same each time the input is tried.
    step = (step * 73 + 41) % 257
    const length =
      choice === 1 ? 1 : Math.max(step % (2 + (choice % 23)), chunks.at(-1)?.length === 0 ? 1 : 0)
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}

/** Changes bytes as a program of (place, kind, value) says, so that the fuzzer need not find a valid object first. */
export function edit(bytes: Buffer, input: Input, most = 4): Buffer {
  let edited = Buffer.from(bytes)
  for (let count = input.byte() % (most + 1); count > 0; count--) {
    const at = input.word() % (edited.length + 1)
    const kind = input.byte() % 6
    const value = input.byte()
    if (kind === 0) edited[at] = value
    else if (kind === 1) edited[at] = (edited[at] ?? 0) ^ (1 << (value % 8))
    else if (kind === 2) edited = Buffer.concat([edited.subarray(0, at), edited.subarray(at + value)])
    else if (kind === 3)
      edited = Buffer.concat([edited.subarray(0, at), input.take(value % 16), edited.subarray(at)])
    else if (kind === 4)
      edited = Buffer.concat([edited.subarray(0, at), edited.subarray(Math.max(0, at - value))])
    else edited = edited.subarray(0, at)
  }
  return edited
}
