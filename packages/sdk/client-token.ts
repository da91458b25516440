import { parseJson, toRecord } from './errors.ts'

/** What the gateway's mint routes answer. An app's backend passes it on to the app as it is. */
export interface ClientToken {
  readonly token: string
  /** ISO 8601. Never compared with the device's clock. */
  readonly expires_at?: string
  readonly end_user_id?: string
  /** Seconds from the answer on. A backend that keeps tokens sends what is left. */
  readonly expires_in?: number
}

export type Scope = 'ai.chat' | 'ai.embed' | 'ai.images' | 'feedback'

const DEFAULT_LIFETIME_MS = 900_000
const MAX_LIFETIME_MS = 3_600_000

/** Returns the token of an answer, or undefined where it has none. A plain text is the token itself. */
export function findClientToken(answer: unknown): ClientToken | undefined {
  if (typeof answer === 'string') return answer === '' ? undefined : { token: answer }
  const { token } = toRecord(answer)
  return typeof token === 'string' && token !== '' ? (answer as ClientToken) : undefined
}

/**
 * Returns how many milliseconds a token that was just minted lives, without the device's clock: what the answer says, else the
 * token's own two times, of which only the difference counts.
 */
export function toLifetimeMs({ token, expires_in: seconds }: ClientToken): number {
  const ms = Number.isFinite(seconds) ? Number(seconds) * 1_000 : findClaimedLifetimeMs(token)
  return Math.min(MAX_LIFETIME_MS, Math.max(0, ms ?? DEFAULT_LIFETIME_MS))
}

function findClaimedLifetimeMs(token: string): number | undefined {
  const { iat, exp } = toRecord(parseJson(decodeBase64Url(token.split('.')[1] ?? '')))
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  return Number.isFinite(exp - iat) ? (exp - iat) * 1_000 : undefined
}

/** Only numbers are read from the text, so its encoding does not matter. */
function decodeBase64Url(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}
