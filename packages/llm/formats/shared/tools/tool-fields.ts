import type { JsonObject } from '../../../json/json-value.ts'
import { invalid } from '../reading/read-fields.ts'

/**
 * A tool is classified by all of its fields, in their exact spelling. A provider may understand a field that the gateway
 * does not know, or in another case, as a tool that it runs itself, at a price of its own.
 */

/** Returns the first field that is not on the list, or undefined. Null means absent. */
export function findOtherField(tool: JsonObject, known: ReadonlySet<string>): string | undefined {
  for (const name in tool) if (!known.has(name) && tool[name] !== null) return name
  return undefined
}

export function assertToolFields(tool: JsonObject, known: ReadonlySet<string>, path: string): void {
  const name = findOtherField(tool, known)
  if (name === undefined) return
  throw invalid(
    `${path}.${name}`,
    'is not a field of this tool; tools that the provider runs are not offered.',
  )
}
