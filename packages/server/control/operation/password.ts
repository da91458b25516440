import { scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Fault } from '../../core/fault.ts'
import { FairQueue } from './fair-queue.ts'

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>

// OWASP's first recommendation for scrypt: 128 MiB and about 0.3 s per hash.
const LOG_N = 17
const R = 8
const P = 1
const MAX_MEMORY_BYTES = 256 * 1024 * 1024
/** Limits the memory that concurrent calls take. */
const CONCURRENCY = 2
/** A full queue takes about ten seconds. */
const MAX_WAITING = 64
const RETRY_SECONDS = 15

/**
 * Hashes passwords. They are normalized to NFKC, so that every keyboard yields the same text. Calls wait in the line of their
 * `party`, since a few addresses could otherwise keep all other users from signing in.
 */
export interface Passwords {
  /**
   * Returns what is stored for a password, in the PHC string format: the settings, `$` and the hash in base64 without
   * padding. Throws `control_rate_limit_exceeded` if too many calls wait.
   */
  hash(password: string, settings: string, party: string): Promise<string>
  /**
   * True if the password is the stored one. With nothing stored it takes as long and returns false. Throws like `hash`.
   */
  verify(password: string, stored: string | null, party: string): Promise<boolean>
}

interface Settings {
  readonly logN: number
  readonly r: number
  readonly p: number
  readonly salt: Buffer
}

interface PasswordHash extends Settings {
  readonly hash: Buffer
}

const SETTINGS = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)$/

/** Stands in for an account that does not exist: no password has this hash. */
const NO_ACCOUNT: PasswordHash = { logN: LOG_N, r: R, p: P, salt: Buffer.alloc(16), hash: Buffer.alloc(32) }

/** Returns the settings of a new hash: `$scrypt$ln=17,r=8,p=1$<salt>`. The salt has 16 bytes. */
export function toPasswordSettings(salt: Buffer): string {
  return `$scrypt$ln=${LOG_N},r=${R},p=${P}$${toBase64(salt)}`
}

export function openPasswords(): Passwords {
  const queue = new FairQueue({ concurrency: CONCURRENCY, maxWaiting: MAX_WAITING }, tooManySignIns)
  const run = (password: string, { logN, r, p, salt }: Settings, party: string): Promise<Buffer> =>
    queue.run(party, () =>
      derive(password.normalize('NFKC'), salt, 32, { N: 2 ** logN, r, p, maxmem: MAX_MEMORY_BYTES }),
    )
  return {
    async hash(password, settings, party) {
      const hash = await run(password, parseSettings(settings), party)
      return `${settings}$${toBase64(hash)}`
    },
    async verify(password, stored, party) {
      const expected = stored === null ? NO_ACCOUNT : parseStored(stored)
      return timingSafeEqual(await run(password, expected, party), expected.hash)
    },
  }
}

function parseStored(text: string): PasswordHash {
  const at = text.lastIndexOf('$')
  return { ...parseSettings(text.slice(0, at)), hash: Buffer.from(text.slice(at + 1), 'base64') }
}

function parseSettings(text: string): Settings {
  const [, ln, r, p, salt = ''] = SETTINGS.exec(text) ?? []
  if (ln === undefined) throw new Error('a stored password hash has an unknown format')
  return { logN: Number(ln), r: Number(r), p: Number(p), salt: Buffer.from(salt, 'base64') }
}

function tooManySignIns(): Fault {
  return new Fault('control_rate_limit_exceeded', 'Too many sign-ins at once. Try again shortly.', {
    retryAfterSeconds: RETRY_SECONDS,
  })
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
