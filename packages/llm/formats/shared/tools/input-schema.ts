import type { JsonObject } from '../../../json/json-value.ts'

/** The schema of a tool without parameters, for formats that demand one. */
export const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** Returns the schema of a tool's input with the type `object`, which Anthropic's and Bedrock's formats demand. */
export function toInputSchema(parameters: JsonObject | null | undefined): JsonObject {
  if (parameters === undefined || parameters === null) return NO_PARAMETERS
  return parameters.type === undefined ? { type: 'object', ...parameters } : parameters
}
