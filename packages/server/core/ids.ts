import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Ids that a path parameter may hold: UUIDs of versions 1-8 with variant 8/9/a/b, all zeros, all f. */
export const UUID_PATTERN =
  '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$'

const UUID = new RegExp(UUID_PATTERN)

export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text)
}

/** Random bytes are read in blocks, so that one system call serves many ids. */
const BLOCK_BYTES = 10 * 128

/** Returns a generator of version 7 UUIDs (RFC 9562): ordered by time in milliseconds, followed by 74 random bits. */
export function openIds(clock: Clock, random: Random): () => string {
  let block: Buffer = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at + 10 > block.length) {
      block = random.bytes(BLOCK_BYTES)
      at = 0
    }
    const time = clock.now().toString(16).padStart(12, '0')
    const hex = block.toString('hex', at, at + 10)
    at += 10
    const variant = '89ab'[Number.parseInt(hex[3] as string, 16) & 3]
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
  }
}

/** Returns when a version 7 UUID was made, in Unix milliseconds; undefined for another id. */
export function timeOfId(id: string): number | undefined {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
}

/** Returns a version 4 UUID. It tells nothing about when it was made, unlike a version 7 one. */
export function createRandomId(random: Random): string {
  const hex = random.bytes(16).toString('hex')
  const variant = '89ab'[Number.parseInt(hex[16] as string, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
