import type { Json } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { toPlainName } from '../../../upstream/reserved-names.ts'
import { isMintedId } from './minted-items.ts'

/**
 * Items that come without what they hold. A provider takes an item of an id alone, whatever its type, for a reference to what it
 * keeps.
 */

/** Fields that hold what an item is, by the plain name of its type. One of them is enough. */
const CONTENT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['message', ['content']],
  // A summary is not the reasoning: the provider looks for the rest.
  ['reasoning', ['encrypted_content']],
  ['compaction', ['encrypted_content']],
  ['imagegenerationcall', ['result']],
  ['functioncall', ['name']],
  ['customtoolcall', ['name']],
  ['mcpcall', ['name']],
  ['localshellcall', ['action']],
  ['websearchcall', ['action']],
  ['computercall', ['action', 'actions']],
  ['shellcall', ['action']],
  ['applypatchcall', ['operation']],
  // What went well has no output.
  ['applypatchcalloutput', ['status', 'output']],
  ['filesearchcall', ['queries', 'results']],
  ['codeinterpretercall', ['code', 'outputs']],
  ['additionaltools', ['tools']],
  ['itemreference', []],
])
/** What a tool of the caller returned, which may be an empty text. */
const OUTPUT = /calloutput$/
/** Fields that say of an item of another type which one it is, and nothing of what it holds. */
const LABELS: ReadonlySet<string> = new Set(
  ['type', 'id', 'status', 'role', 'phase', 'call_id', 'cache_control', 'created_by'].map(toPlainName),
)

/** Whether an item has an id and nothing of what it stands for. No provider knows an id that the gateway made. */
export function isById(value: Json): boolean {
  const item = toObject(value)
  const { id } = item ?? {}
  if (item === undefined || (id ?? null) === null || (typeof id === 'string' && isMintedId(id))) return false
  const type = typeof item.type === 'string' ? toPlainName(item.type) : 'message'
  const fields = CONTENT_FIELDS.get(type)
  if (fields !== undefined) return fields.every(name => isBlank(item[name]))
  if (OUTPUT.test(type) && !isBlank(item.call_id)) return (item.output ?? null) === null
  return Object.keys(item).every(name => LABELS.has(toPlainName(name)) || isBlank(item[name]))
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  return Array.isArray(value) && value.every(isBlank)
}
