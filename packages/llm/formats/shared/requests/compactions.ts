import { type Json, type JsonObject, toObject } from '../../../json/json-value.ts'
import { listSettings } from './list-settings.ts'

const MANAGEMENT: ReadonlySet<string> = new Set(['contextmanagement'])

/**
 * Returns the paths of what asks the provider, anywhere in a body, to run the model once more on all of the conversation: Claude's edits
 * and OpenAI's entries of `context_management`. Edits that clear parts of it are free; what is not known to be one counts.
 */
export function listCompactions(body: JsonObject): string[] {
  return listSettings(body, MANAGEMENT).flatMap(({ path, value }) => {
    if (Array.isArray(value)) return listRuns(value, path)
    const { edits, ...others } = toObject(value) ?? { unread: true }
    if (Object.keys(others).length > 0) return [path]
    if (edits === undefined || edits === null) return []
    return Array.isArray(edits) ? listRuns(edits, `${path}.edits`) : [`${path}.edits`]
  })
}

function listRuns(entries: readonly Json[], path: string): string[] {
  return entries.flatMap((entry, at) => {
    const type = toObject(entry)?.type
    return typeof type === 'string' && type.startsWith('clear_') ? [] : [`${path}[${at}]`]
  })
}
