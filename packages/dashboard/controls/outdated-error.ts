import { ApiError, toApiError } from '../api/api-error.ts'
import type { Stored } from './edited.tsx'

/** A change was refused because somebody else changed the record after it was read. */
export class OutdatedError extends ApiError {
  /** The record as it is now. */
  readonly now: Stored

  constructor({ code, message, status, requestId }: ApiError, now: Stored) {
    super(code, message, { status, requestId })
    this.now = now
  }
}

/** Returns what was thrown, with the record as it is now if that is the reason. */
export async function toConflict(
  thrown: unknown,
  edit: { read(): Promise<Stored> } | undefined,
): Promise<unknown> {
  const { status, param } = toApiError(thrown)
  if (edit === undefined || status !== 409 || param !== 'If-Match') return thrown
  try {
    return new OutdatedError(toApiError(thrown), await edit.read())
  } catch {
    // The refusal itself says enough.
    return thrown
  }
}
