import { ApiError, toApiError } from '../api/api-error.ts'
import type { VersionedRecord } from './edit-form.tsx'

/** A change was refused because someone else changed the record after it was read. */
export class ConflictError extends ApiError {
  /** The record as it is now. */
  readonly latest: VersionedRecord

  constructor({ code, message, status, requestId }: ApiError, latest: VersionedRecord) {
    super(code, message, { status, requestId })
    this.latest = latest
  }
}

/** Returns a ConflictError with the latest record if an outdated version was the reason of the failure, else what was thrown. */
export async function toConflict(
  thrown: unknown,
  edit: { read(): Promise<VersionedRecord> } | undefined,
): Promise<unknown> {
  const { status, param } = toApiError(thrown)
  if (edit === undefined || status !== 409 || param !== 'If-Match') return thrown
  try {
    return new ConflictError(toApiError(thrown), await edit.read())
  } catch {
    // Without the latest record, the message of the refusal is shown.
    return thrown
  }
}
