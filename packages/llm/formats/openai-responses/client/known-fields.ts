import { toOwnNames } from '../../../upstream/outgoing-body.ts'
import { FIELDS } from '../wire/fields.ts'

/** Names that the server side of the format reads and checks. */
export const OWN_NAMES = toOwnNames([...FIELDS.names])
