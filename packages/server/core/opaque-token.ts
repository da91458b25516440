import { createHash } from 'node:crypto'
import type { Random } from './chance.ts'

/**
 * A token that means something only to whoever looks it up: a session, an invitation, a reset link. 256 random bits in
 * base64url; only its SHA-256 is stored, so that who reads the database can use none of them.
 */
export function createToken(random: Random): string {
  return random.bytes(32).toString('base64url')
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
