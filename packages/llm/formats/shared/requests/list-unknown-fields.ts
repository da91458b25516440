import type { JsonObject } from '../../../json/json-value.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { joinPath } from '../reading/field-path.ts'
import { assertNotReservedName } from './reserved-fields.ts'

/**
 * Returns the paths of fields that are not known and have a value. No provider gets them; the environment's
 * `unsupported_params` decides whether they are refused. Throws for a reserved name.
 */
export function listUnknownFields(body: JsonObject, known: ReadonlySet<string>, path = ''): string[] {
  const unknown: string[] = []
  const texts = new JsonTexts()
  for (const name in body) {
    const value = body[name]
    if (known.has(name) || value === undefined || value === null) continue
    const at = joinPath(path, name)
    assertNotReservedName(name, at, texts)
    unknown.push(at)
  }
  return unknown
}
