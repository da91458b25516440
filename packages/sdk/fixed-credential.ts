import type { Credential } from './transport.ts'

/** A key: it stays what it is. */
export function fixedCredential(key: string): Credential {
  return { get: () => Promise.resolve(key), drop: () => false }
}
