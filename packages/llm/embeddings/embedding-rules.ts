import { FieldRules, MODEL, type Rule, SCALAR, toListRule, toObjectRule } from '../upstream/outgoing-rules.ts'

/** What may go out in each format of embeddings. Only a body in OpenAI's shape has fields that the gateway did not write. */

/** Texts, or the numbers of their tokens. */
const INPUTS: Rule = {
  check: (value, grant) => (isTokenLists(value) ? undefined : SCALAR.check(value, grant)),
}

function isTokenLists(value: unknown): boolean {
  return Array.isArray(value) && value.every(item => Array.isArray(item) && item.every(Number.isSafeInteger))
}

export const OPENAI_RULES = new FieldRules(
  Object.entries({
    model: MODEL,
    input: INPUTS,
    dimensions: SCALAR,
    encoding_format: SCALAR,
    input_type: SCALAR,
    user: SCALAR,
    // Other words for `dimensions`.
    output_dimension: SCALAR,
  }),
  'reserved',
)

export const COHERE_RULES = new FieldRules(
  Object.entries({
    model: MODEL,
    texts: SCALAR,
    input_type: SCALAR,
    embedding_types: SCALAR,
    output_dimension: SCALAR,
    truncate: SCALAR,
  }),
  'refused',
)

export const OLLAMA_RULES = new FieldRules(
  Object.entries({ model: MODEL, input: SCALAR, dimensions: SCALAR, truncate: SCALAR }),
  'refused',
)

const CONTENT = toObjectRule({ parts: toListRule(toObjectRule({ text: SCALAR }, 'refused')) }, 'refused')
const ONE = { content: CONTENT, taskType: SCALAR, title: SCALAR, outputDimensionality: SCALAR }

/** The model of each request, with the words before it. */
const NAMED_MODEL: Rule = {
  check: (value, { model }) => (value === `models/${model}` ? undefined : ''),
}

export const GEMINI_RULES = new FieldRules(
  Object.entries({ requests: toListRule(toObjectRule({ ...ONE, model: NAMED_MODEL }, 'refused')) }),
  'refused',
)

/** The fields of `:predict` and `:embedContent`. The path names the model. */
export const VERTEX_RULES = new FieldRules(
  Object.entries({
    ...ONE,
    instances: toListRule(toObjectRule({ content: SCALAR, task_type: SCALAR, title: SCALAR }, 'refused')),
    parameters: toObjectRule({ outputDimensionality: SCALAR }, 'refused'),
  }),
  'refused',
)

/** The fields of the models of each maker on Bedrock. The path names the model. */
export const BEDROCK_RULES = new FieldRules(
  Object.entries({
    texts: SCALAR,
    input_type: SCALAR,
    output_dimension: SCALAR,
    truncate: SCALAR,
    inputText: SCALAR,
    dimensions: SCALAR,
    taskType: SCALAR,
    singleEmbeddingParams: toObjectRule(
      {
        embeddingPurpose: SCALAR,
        embeddingDimension: SCALAR,
        text: toObjectRule({ value: SCALAR, truncationMode: SCALAR }, 'refused'),
      },
      'refused',
    ),
  }),
  'refused',
)
