import { UUID_PATTERN } from '../../core/ids.ts'
import { z } from './zod.ts'

/**
 * Fields that several bodies and queries use. Bodies are strict; null in an optional field means absent. A text that is too
 * long is not checked further (`abort`): a body may have 10 MiB, of which a pattern holds the event loop or exceeds the stack.
 */

// PostgreSQL's text type rejects NUL and lone surrogates. Control characters are rejected too: no name needs them. Written without
// classes of Unicode, since the pattern is part of the OpenAPI document and many readers of those know none.
const CONTROL_OR_HALF_PAIR = String.raw`\u0000-\u001f\u007f-\u009f\ud800-\udfff`
const PRINTABLE = new RegExp(`^[^${CONTROL_OR_HALF_PAIR}]*$`, 'u')

/** A trimmed line of text of 1 to `max` characters. */
export function textField(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(max, { abort: true })
    .regex(PRINTABLE, 'must not contain control characters')
}

export const uuidField = z.string().regex(new RegExp(UUID_PATTERN), 'must be a UUID').meta({ format: 'uuid' })

/** Normalised, so that each address has one account however it is written. Its length first: `İ` becomes two characters, slowly. */
export const emailField = z
  .string()
  .trim()
  .max(254, { abort: true })
  .toLowerCase()
  .regex(z.regexes.email, 'must be an e-mail address')

export const passwordField = z
  .string()
  .min(10, 'must have at least 10 characters')
  .max(1024, 'must have at most 1024 characters')

/** A password to verify, not to set: the rules for new passwords are not reported to a caller who guesses. */
export const givenPasswordField = z.string().min(1).max(1024)

/** The secret of a link. Only a lookup shows what it is for. */
export const tokenField = z.string().min(1).max(256)

const FIRST_TIME = Date.parse('0000-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** An ISO 8601 time with an offset. Its year in UTC has four digits, as RFC 3339 requires of the answers that show it. */
export const dateTimeField = z
  .string()
  .max(64, { abort: true })
  .check(z.iso.datetime({ offset: true }))
  .refine(text => {
    const at = Date.parse(text)
    return at >= FIRST_TIME && at <= LAST_TIME
  }, 'must be an existing time of the years 0000 to 9999 in UTC')

/** Converts an optional time of a query. */
export function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

/** An integer in a query. Digits only, so that `1e2`, ` 5` and an empty text are rejected. */
export function integerParam(min: number, max: number) {
  return z
    .string()
    .transform(text => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
    .pipe(z.int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max })
}

/** A text in a query: 1 to `max` characters, matched as it is. */
export function textParam(max: number) {
  return z.string().min(1).max(max, { abort: true }).regex(PRINTABLE, 'must not contain control characters')
}

/** A non-negative number in a query: digits, decimals, and the exponent that programs give small ones (`4e-7`). */
export function numberParam(max: number) {
  return z
    .string()
    .transform(text => (/^\d{1,9}(\.\d{1,30})?(e-\d{1,2})?$/.test(text) ? Number(text) : Number.NaN))
    .pipe(z.number().min(0).max(max))
    .meta({ type: 'number', minimum: 0, maximum: max })
}

// Fields of responses.

export const uuid = z.string().meta({ format: 'uuid' })
export const dateTime = z.string().meta({ format: 'date-time' })

/** The creation and last change of a record; every record has them. */
export const stamps = { created_at: dateTime, updated_at: dateTime }

export function toStamps(row: { readonly created_at: Date; readonly updated_at: Date }) {
  return { created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() }
}

export function toDateTime(date: Date | null): string | null {
  return date === null ? null : date.toISOString()
}

/** The ids of a record that belongs to an environment. */
export const environmentIds = { id: uuid, project_id: uuid, environment_id: uuid }
