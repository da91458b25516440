import { excerpt } from '@rideau/llm/request/bounded-excerpt'
import type { RecordFields } from './record-fields.ts'

/** The longest user, in characters. Hashes, ids and addresses are shorter. */
const MAX_USER = 256

/** Records the `user` that the body names, for the reader of the log. It is never an identity. */
export function noteUser(recordFields: RecordFields, user: string | undefined): void {
  if (user !== undefined && user !== '') recordFields.user = excerpt(user, MAX_USER)
}
