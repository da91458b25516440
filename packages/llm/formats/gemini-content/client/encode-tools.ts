import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { FunctionTool, ToolChoice } from '../../../request/tools.ts'

/** All functions in one tool, as the API requires; undefined: there are none. */
export function encodeTools(tools: readonly FunctionTool[] | undefined): Json | undefined {
  if (tools === undefined || tools.length === 0) return undefined
  return [{ functionDeclarations: tools.map(encodeFunction) }]
}

function encodeFunction({ function: fn }: FunctionTool): JsonObject {
  const { name, description, parameters } = fn
  return {
    name,
    ...(description === undefined ? {} : { description }),
    // The API refuses a schema without properties at the root, so a function without parameters has no schema.
    ...(isEmptyObject(parameters) ? {} : { parametersJsonSchema: parameters }),
  }
}

function isEmptyObject(schema: JsonObject | null | undefined): boolean {
  if (schema === undefined || schema === null) return true
  const properties = toObject(schema.properties)
  const hasProperties = properties !== undefined && Object.keys(properties).length > 0
  const others = schema.additionalProperties
  const isOpen = others === true || toObject(others) !== undefined
  return (
    (schema.type === 'object' || schema.type === undefined) &&
    !hasProperties &&
    !isOpen &&
    !isComposed(schema)
  )
}

/** Keywords that can name properties of an object besides `properties`. */
const COMPOSERS = [
  ...['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties'],
  ...['if', 'then', 'else', 'not', 'dependentSchemas'],
]

function isComposed(schema: JsonObject): boolean {
  return COMPOSERS.some(name => schema[name] !== undefined)
}

/** undefined: the model decides, which is the default. */
export function encodeToolConfig(choice: ToolChoice | undefined): JsonObject | undefined {
  const calling = choice === undefined ? undefined : encodeCalling(choice)
  return calling === undefined ? undefined : { functionCallingConfig: calling }
}

function encodeCalling(choice: ToolChoice): JsonObject | undefined {
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY' }
  if (typeof choice === 'string') return undefined
  const names = toAllowed(choice as unknown as JsonObject)
  if (names === undefined) return undefined
  return { mode: names.isForced ? 'ANY' : 'VALIDATED', allowedFunctionNames: names.names }
}

/** One function, or OpenAI's `allowed_tools`. */
function toAllowed(choice: JsonObject): { isForced: boolean; names: string[] } | undefined {
  const name = toText(toObject(choice.function)?.name)
  if (choice.type === 'function' && name !== undefined) return { isForced: true, names: [name] }
  const allowed = toObject(choice.allowed_tools)
  if (choice.type !== 'allowed_tools' || allowed === undefined) return undefined
  const names = toObjects(toArray(allowed.tools) as Json[])
    .map(tool => toText(toObject(tool.function)?.name))
    .filter(item => item !== undefined)
  return names.length === 0 ? undefined : { isForced: allowed.mode === 'required', names }
}

export function isToolChoiceKnown(choice: ToolChoice): boolean {
  return typeof choice === 'string' || encodeCalling(choice) !== undefined
}
