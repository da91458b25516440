import { Fault } from '../../core/fault.ts'
import type { Services } from '../operation/operation.ts'

/**
 * Returns the spelling of a time zone that PostgreSQL has, so that a zone has one. Throws unless PostgreSQL, which sums usage by
 * days, has it: Node accepts further names, such as `AET`, and the data of the two may be of different releases.
 */
export async function parseTimeZone<Absent extends null | undefined>(
  { spellTimeZone }: Pick<Services, 'spellTimeZone'>,
  name: string | Absent,
  code: 'invalid_request' | 'request_validation_failed',
): Promise<string | Absent> {
  if (name === null || name === undefined) return name
  const spelled = await spellTimeZone(name)
  if (spelled !== undefined) return spelled
  const message = `time_zone must be a time zone of the IANA database, such as Europe/Paris; PostgreSQL does not know ${name}.`
  throw new Fault(code, message, { param: 'time_zone' })
}
