import type { JsonObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { encodeSchema } from '../../shared/claude-schema.ts'
import type { ModelTraits } from './model-traits.ts'
import { STRUCTURED_ANSWER } from './structured-answer.ts'

/** How a request for structured output is put; what is absent stays as it is. */
export interface EncodedFormat {
  /** For `output_config.format`. */
  readonly format?: JsonObject
  /** A tool whose call is the answer. */
  readonly tool?: JsonObject
  /** Goes behind the caller's own instructions. */
  readonly instruction?: string
}

const ANY_OBJECT = 'Answer with one JSON object and nothing else: no words around it and no code fence.'
const BY_TOOL = `Give the answer by calling the tool ${STRUCTURED_ANSWER}, and in no other way.`

/**
 * A schema goes out natively where the model takes one, else as a tool that has to be called, or is asked for where a
 * call cannot be forced. Any JSON object has no native form: it is asked for in words.
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
  if (traits.hasJsonSchema) return { format: { type: 'json_schema', schema: encodeSchema(schema) } }
  const tool = {
    name: STRUCTURED_ANSWER,
    description: wanted?.description ?? 'Gives the answer in its structure.',
    input_schema: schema.type === undefined ? { type: 'object', ...schema } : schema,
  }
  return canForce ? { tool } : { tool, instruction: BY_TOOL }
}
