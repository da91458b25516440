import { createHash } from 'node:crypto'
import type { Random } from '../random.ts'

/**
 * Returns a new opaque token for a session, an invitation or a password reset: 256 random bits in base64url. Only its
 * SHA-256 is stored, so that reading the database does not reveal a usable token.
 */
export function createToken(random: Random): string {
  return random.bytes(32).toString('base64url')
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
