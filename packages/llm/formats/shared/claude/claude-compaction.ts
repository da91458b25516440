import { type Json, toObject, toObjects } from '../../../json/json-value.ts'

/**
 * Returns the paths of edits of Claude's `context_management` for which the provider runs the model once more on all of the conversation.
 * Edits that clear parts of it are free.
 */
export function listCompactions(management: Json | undefined, path: string): string[] {
  return toObjects(toObject(management)?.edits).flatMap(({ type }, at) =>
    typeof type === 'string' && type.startsWith('clear_') ? [] : [`${path}.edits[${at}]`],
  )
}
