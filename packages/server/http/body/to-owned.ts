/** A slice of less than this part of its memory is copied. */
const PART = 4

/**
 * Returns bytes that keep at most a few times their size in memory. A slice of a read of a socket keeps the whole read, 64 KiB,
 * and a sender decides how much of it is something else: chunks of one byte with long extensions, for example.
 */
export function toOwned(bytes: Buffer): Buffer {
  return bytes.length * PART < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes
}
