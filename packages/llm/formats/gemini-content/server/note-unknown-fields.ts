import type { JsonObject } from '../../../json/json-value.ts'
import { joinPath } from '../../shared/reading/field-path.ts'
import type { TargetFindings } from '../../shared/requests/findings.ts'

/** Adds the path of each unknown field of an object to the findings: no target gets it. */
export function noteUnknownFields(
  object: JsonObject,
  path: string,
  known: readonly string[],
  findings: TargetFindings,
): void {
  for (const name in object) {
    const value = object[name]
    if (value !== null && value !== undefined && !known.includes(name)) {
      findings.unknownFields.push(joinPath(path, name))
    }
  }
}

/** Adds the paths of fields that only a provider of this format knows. */
export function noteNativeOnly(
  object: JsonObject,
  path: string,
  native: readonly string[],
  findings: TargetFindings,
): void {
  for (const name of native) {
    const value = object[name]
    if (value !== null && value !== undefined) findings.nativeOnly.push(joinPath(path, name))
  }
}
