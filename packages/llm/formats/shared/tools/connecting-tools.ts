import type { Json } from '../../../json/json-value.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'

/** Names of fields by which such a tool reaches another address, or what the account keeps. */
const CONNECTS: ReadonlySet<string> = new Set(
  [
    ...['server_url', 'connector_id', 'tunnel_id', 'vector_store_ids', 'container_id', 'file_ids', 'file_id'],
    ...['library_ids', 'input_image_mask', 'headers', 'authorization', 'skills'],
  ].map(toPlainName),
)

/** Returns true if a tool reaches another address, or what the account keeps. Unknown depths and other spellings count as yes. */
export function connects(value: Json | undefined, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > 8) return true
  if (Array.isArray(value)) return value.some(item => connects(item, depth + 1))
  for (const name in value) {
    const inner = value[name]
    if (inner === null || inner === undefined) continue
    const plain = toPlainName(name)
    if (CONNECTS.has(plain) || (plain === 'container' && typeof inner === 'string')) return true
    if (plain === 'type' && name !== 'type') return true
    if (connects(inner, depth + 1)) return true
  }
  return false
}
