import { type Json, toObject } from '../../../json/json-value.ts'

/**
 * Returns the path, from a `context_management`, of the first part that asks the provider to run the model once more on all of the
 * conversation: Claude's edits and OpenAI's entries. An empty text: the value itself. Edits that clear parts of it are free; what is not
 * known to be one counts. undefined: there is none.
 */
export function findCompaction(value: Json | undefined): string | undefined {
  if (Array.isArray(value)) return findRun(value)
  const { edits, ...others } = toObject(value) ?? { unread: true }
  if (Object.keys(others).length > 0) return ''
  if (edits === undefined || edits === null) return undefined
  if (!Array.isArray(edits)) return 'edits'
  const run = findRun(edits)
  return run === undefined ? undefined : `edits${run}`
}

function findRun(entries: readonly Json[]): string | undefined {
  const at = entries.findIndex(entry => {
    const type = toObject(entry)?.type
    return typeof type !== 'string' || !type.startsWith('clear_')
  })
  return at < 0 ? undefined : `[${at}]`
}
