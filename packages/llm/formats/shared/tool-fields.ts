import type { JsonObject } from '../../json/json-value.ts'
import { invalid } from './read-fields.ts'

/**
 * A tool is told by all of its fields, as they are written: a provider that reads one of them more laxly than we do, or
 * one that we do not know, could find in it a tool that it runs itself, at a price of its own.
 */

/** The first field that is none of these; null asks for nothing. */
export function findOtherField(tool: JsonObject, known: ReadonlySet<string>): string | undefined {
  for (const name in tool) if (!known.has(name) && tool[name] !== null) return name
  return undefined
}

export function refuseOtherFields(tool: JsonObject, known: ReadonlySet<string>, path: string): void {
  const name = findOtherField(tool, known)
  if (name === undefined) return
  throw invalid(
    `${path}.${name}`,
    'is no field of such a tool; tools that a provider hosts are not offered here.',
  )
}
