import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { encodeSchema, isEncodable } from '../../shared/claude/claude-schema.ts'
import type { ModelTraits } from './model-traits.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

/** How structured output is requested. */
export interface EncodedFormat {
  /** The value of `output_config.format`. */
  readonly format?: JsonObject
  /** A tool of the gateway, whose call is the answer. */
  readonly tool?: JsonObject
  /** A sentence to append to the caller's instructions. */
  readonly instruction?: string
}

const ANY_OBJECT = 'Answer with one JSON object and nothing else: no words around it and no code fence.'
const BY_TOOL = `Give the answer by calling the tool ${STRUCTURED_ANSWER}, and in no other way.`

/**
 * Returns how the model is asked for a response format; undefined: for none. A model that takes the schema gets it. Others
 * get a tool whose input has the schema, and are told to call it if the call cannot be forced (`canForce`). "Any
 * JSON object" has no field in this format, so the instructions ask for it.
 */
export function encodeFormat(
  { responseFormat }: ChatRequest,
  traits: ModelTraits,
  canForce: boolean,
): EncodedFormat | undefined {
  if (responseFormat === undefined || responseFormat.type === 'text') return undefined
  const wanted = responseFormat.type === 'json_schema' ? responseFormat.json_schema : undefined
  const schema = wanted?.schema
  if (schema === undefined || schema === null) return { instruction: ANY_OBJECT }
  if (traits.hasJsonSchema && isEncodable(schema))
    return { format: { type: 'json_schema', schema: encodeSchema(schema) } }
  const tool = {
    name: STRUCTURED_ANSWER,
    description: wanted?.description ?? 'Gives the structured answer.',
    input_schema: schema.type === undefined ? { type: 'object', ...schema } : schema,
  }
  return canForce ? { tool } : { tool, instruction: BY_TOOL }
}
