import { Fault } from '../../core/fault.ts'
import type { Services } from '../operation/operation.ts'

/**
 * Throws unless PostgreSQL, which sums usage by days, has the time zone: Node accepts further names, such as `AET`, and the
 * data of the two may be of different releases.
 */
export async function assertTimeZone(
  { hasTimeZone }: Pick<Services, 'hasTimeZone'>,
  name: string | null | undefined,
  code: 'invalid_request' | 'request_validation_failed',
): Promise<void> {
  if (name === null || name === undefined || (await hasTimeZone(name))) return
  const message = `time_zone must be a time zone of the IANA database, such as Europe/Paris; PostgreSQL does not know ${name}.`
  throw new Fault(code, message, { param: 'time_zone' })
}
