// In this workspace because openapi-typescript needs the JavaScript API of TypeScript 5.
import openapiTS, { astToString } from 'openapi-typescript'

const HEADER = '// Made from docs/openapi.json by tools/build-openapi.mjs: do not edit.\n\n'

/** The module of types for openapi-fetch. A field with a default stays optional: the caller may leave it out. */
export async function toClientTypes(document) {
  return HEADER + astToString(await openapiTS(document, { defaultNonNullable: false, silent: true }))
}
