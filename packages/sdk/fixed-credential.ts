import type { Credential } from './transport.ts'

/** A key, which never changes. */
export function fixedCredential(key: string): Credential {
  return { get: () => Promise.resolve(key), drop: () => false }
}
