import { type JsonObject, toObject } from '../json/json-value.ts'
import { parseObject } from '../json/parse-object.ts'
import { MAX_MODEL_NAME } from '../request/bounded-text.ts'

/** What names of models are made of, ARNs and paths of files included. Anything else may be content. */
const NAME = /^[\w.:@/+-]+$/

/** Responses of OpenAI's API repeat the whole request in their first event. No name is worth parsing more of it twice. */
const MAX_FRAME_CHARS = 65_536

/**
 * Returns the model that a provider says has answered, from a whole answer or one event of a stream in any format. undefined: it names
 * none, or what it names cannot be a model's name.
 */
export function readAnsweredModel(body: JsonObject): string | undefined {
  const { model, modelVersion, message, response } = body
  // Gemini's, Anthropic's first event, and that of OpenAI's Responses.
  for (const named of [model, modelVersion, toObject(message)?.model, toObject(response)?.model]) {
    if (typeof named === 'string' && named.length <= MAX_MODEL_NAME && NAME.test(named)) return named
  }
  return undefined
}

/** Returns the model that the first events of a stream name, as they came. */
export function findStreamedModel(frames: Iterable<{ readonly data: string }>): string | undefined {
  for (const { data } of frames) {
    const body = data.length > MAX_FRAME_CHARS ? undefined : parseObject(data)
    const model = body === undefined ? undefined : readAnsweredModel(body)
    if (model !== undefined) return model
  }
  return undefined
}
