import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Random } from '../core/chance.ts'

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>

// OWASP's first choice for scrypt: 128 MiB and about 0.3 s each.
const LOG_N = 17
const R = 8
const P = 1
const MAX_MEMORY_BYTES = 256 * 1024 * 1024
/** More at once would let a handful of calls take the machine's memory. */
const CONCURRENCY = 2

/**
 * Makes what is stored in a password's place, in the PHC string format: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, base64
 * without padding. The password is taken in Unicode form NFKC, so that it is the same from every keyboard.
 */
export function createPasswordHasher(random: Random): (password: string) => Promise<string> {
  let running = 0
  const waiting: (() => void)[] = []
  return async password => {
    if (running === CONCURRENCY) await new Promise<void>(resolve => waiting.push(resolve))
    else running++
    try {
      const salt = random.bytes(16)
      const options = { N: 2 ** LOG_N, r: R, p: P, maxmem: MAX_MEMORY_BYTES }
      const hash = await derive(password.normalize('NFKC'), salt, 32, options)
      return `$scrypt$ln=${LOG_N},r=${R},p=${P}$${toBase64(salt)}$${toBase64(hash)}`
    } finally {
      // The place goes to who waits; only without one does it become free.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
