import { readFile } from 'node:fs/promises'
import type { EgressPolicy } from '../../../http/egress/egress.ts'
import { guardedGet } from '../../../http/egress/guarded-get.ts'
import { parseRevocationList } from './revocation-list.ts'
import type { LoadedRevocations } from './revocations.ts'

/** Google's list: https://developer.android.com/privacy-and-security/security-key-attestation#certificate_status */
export const GOOGLE_REVOCATION_LIST = 'https://android.googleapis.com/attestation/status'

/** Google's list has less than 1 MiB. */
const MAX_BYTES = 8 * 1024 * 1024
const LIMITS = { timeoutMs: 5_000, maxBytes: MAX_BYTES }

const REASONS = {
  refused: 'its address is not allowed',
  timeout: 'its host did not respond within 5 seconds',
  unreachable: 'its host could not be reached',
}

/**
 * Fetches the list through the egress guard: at most 8 MiB within 5 seconds, without following redirects. Throws an error with
 * the reason, which repeats nothing of the response.
 */
export async function fetchRevocations(
  address: string,
  policy: EgressPolicy,
  signal: AbortSignal,
): Promise<LoadedRevocations> {
  const headers = { accept: 'application/json' }
  const response = await guardedGet(address, { headers, policy, signal, ...LIMITS })
  if (!response.ok) throw new Error(REASONS[response.reason])
  if (response.isCut) throw new Error('it is larger than 8 MiB')
  if (response.status !== 200) throw new Error(`its host responded with status ${response.status}`)
  return { serials: parseList(response.body), maxAgeMs: parseMaxAgeMs(response.cacheControl) }
}

/** Reads the list from a file, for deployments without access to Google's host. Throws an error with the reason. */
export async function readRevocations(file: string): Promise<LoadedRevocations> {
  const bytes = await readFile(file)
  if (bytes.length > MAX_BYTES) throw new Error('it is larger than 8 MiB')
  return { serials: parseList(bytes), maxAgeMs: undefined }
}

function parseList(bytes: Buffer): ReadonlySet<string> {
  const serials = parseRevocationList(parseJson(bytes))
  if (serials === undefined) throw new Error('it is not a list of revoked certificates')
  return serials
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Returns the `max-age` of a `Cache-Control` header. `no-cache` and `no-store` count as 0. */
function parseMaxAgeMs(header: string): number | undefined {
  if (/\bno-(cache|store)\b/i.test(header)) return 0
  const seconds = /\bmax-age\s*=\s*"?(\d{1,10})/i.exec(header)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
