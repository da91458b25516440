// In this workspace because openapi-typescript needs the JavaScript API of TypeScript 5.
import openapiTS, { astToString } from 'openapi-typescript'

/** The module of types for openapi-fetch. A field with a default stays optional: the caller may leave it out. */
export async function toClientTypes(document) {
  const json = withoutCsv(document)
  return astToString(await openapiTS(json, { defaultNonNullable: false, silent: true }))
}

/** Who asks for a file as CSV reads no typed answer. Without this, every answer of such a route would be `string | ...`. */
function withoutCsv(document) {
  const text = JSON.stringify(document, (name, value) => (name === 'text/csv' ? undefined : value))
  return JSON.parse(text)
}
