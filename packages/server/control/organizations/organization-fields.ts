import { textField } from '../operation/fields.ts'
import { slugField } from '../operation/slug.ts'
import { z } from '../operation/zod.ts'

export const DEFAULT_TIME_ZONE = 'UTC'

/** What of an organization its administrators set. */
export const organizationFields = {
  name: textField(200),
  slug: slugField,
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Paris'),
}

/** A name, not an offset such as +02:00, which `Intl` takes too: an offset knows no summer time. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
