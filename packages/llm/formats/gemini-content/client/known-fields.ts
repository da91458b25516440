import { toOwnNames } from '../../../upstream/outgoing-body.ts'
import { CONFIG_FIELDS, FIELDS } from '../wire/fields.ts'

const names = [...FIELDS.names].filter(name => name !== 'model')

/** Names that the server side of the format reads and checks. The model stands in the path, never in the body. */
export const OWN_NAMES = toOwnNames(names, { generationConfig: [...CONFIG_FIELDS.names] })
