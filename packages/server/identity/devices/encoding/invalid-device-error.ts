/** Why a device's proof was rejected. `reason` is for the log, never for the sender. */
export interface Rejection {
  readonly valid: false
  readonly reason: string
}

/** Thrown inside this folder; toVerdict() makes a Rejection of it. */
export class InvalidDeviceError extends Error {
  override readonly name = 'InvalidDeviceError'
}

/** Returns what `verify` returns, or the reason why the input is invalid. Any other exception is a bug and passes. */
export function toVerdict<T extends { readonly valid: true }>(verify: () => T): T | Rejection {
  try {
    return verify()
  } catch (error) {
    if (error instanceof InvalidDeviceError) return { valid: false, reason: error.message }
    throw error
  }
}

/** Throws InvalidDeviceError with the reason unless the condition holds. */
export function assertValid(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new InvalidDeviceError(reason)
}
