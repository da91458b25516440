const HEADER_BYTES = 44
const BYTES_A_SAMPLE = 2

/**
 * Returns what precedes the samples in a WAV file of one channel of signed 16-bit samples, `rate` a second, in the order of little-endian
 * machines. `length`: the bytes of all samples.
 */
export function toWavHeader(length: number, rate: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(HEADER_BYTES - 8 + length, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  // PCM, one channel.
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * BYTES_A_SAMPLE, 28)
  header.writeUInt16LE(BYTES_A_SAMPLE, 32)
  header.writeUInt16LE(8 * BYTES_A_SAMPLE, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(length, 40)
  return header
}
