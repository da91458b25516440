import { z } from './zod.ts'

/** More than any scope has. */
const MAX_CHARS = 64

/**
 * Names of scopes, of which the handler refuses unknown ones with a fault code of their own. A name that is too long to be one is cut, so
 * that no later step has to read all of it.
 */
export const scopesField = z.array(z.string().overwrite(name => name.slice(0, MAX_CHARS))).max(100)
