/** The claims of a token that explain the test's result. They are not verified, and only displayed. */
export interface Claims {
  readonly iss: string | undefined
  readonly aud: string | undefined
  readonly azp: string | undefined
  readonly sub: string | undefined
  /** Unix seconds. */
  readonly iat: number | undefined
  readonly exp: number | undefined
}

/** Returns undefined if the text is not a token. */
export function readClaims(token: string): Claims | undefined {
  const [, part] = token.trim().split('.')
  if (part === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), character =>
      character.charCodeAt(0),
    )
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof claims !== 'object' || claims === null) return undefined
    const { iss, aud, azp, sub, iat, exp } = claims as Record<string, unknown>
    return {
      iss: toText(iss),
      aud: Array.isArray(aud) ? aud.map(String).join(', ') : toText(aud),
      azp: toText(azp),
      sub: toText(sub),
      iat: toSeconds(iat),
      exp: toSeconds(exp),
    }
  } catch {
    return undefined
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Treats a time that a Date cannot hold as absent. */
function toSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) < 8.64e12 ? value : undefined
}
