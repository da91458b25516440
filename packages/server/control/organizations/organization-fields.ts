import { isTimeZone } from '../../core/tenancy/windows.ts'
import { textField } from '../operation/fields.ts'
import { slugField } from '../operation/slug.ts'
import { z } from '../operation/zod.ts'

export const DEFAULT_TIME_ZONE = 'UTC'

/** PostgreSQL takes these names for an offset without daylight saving time. The IANA database links them to these zones. */
const LINKED = new Map([
  ['CET', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['MET', 'Europe/Brussels'],
  ['WET', 'Europe/Lisbon'],
])

/** parseTimeZone checks that PostgreSQL has the zone too. */
export const timeZoneField = z
  .string()
  .max(64, { abort: true })
  .refine(isZoneName, 'must be a time zone of the IANA database, such as Europe/Paris')
  .overwrite(name => LINKED.get(name.toUpperCase()) ?? name)

/** The settings of an organization. */
const organizationFields = {
  name: textField(200),
  slug: slugField,
  time_zone: timeZoneField,
}

/** True for the name of a time zone. `Intl` accepts offsets such as +02:00 too, which have no daylight saving time. */
function isZoneName(text: string): boolean {
  return /^[A-Za-z]/.test(text) && isTimeZone(text)
}

export const NewOrganization = z
  .strictObject({
    name: organizationFields.name,
    slug: organizationFields.slug.nullish(),
    time_zone: organizationFields.time_zone.nullish(),
  })
  .meta({ id: 'NewOrganization' })

export const OrganizationChange = z
  .strictObject({
    name: organizationFields.name,
    slug: organizationFields.slug.nullable(),
    time_zone: organizationFields.time_zone.nullable(),
  })
  .partial()
  .meta({ id: 'OrganizationChange' })
