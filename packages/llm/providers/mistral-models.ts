import type { OpenAiModelRule } from '../provider/openai-deviations.ts'

/** Rules of Mistral's own models, whose prompt template refuses some orders of messages wherever it is served. */
export const MISTRAL_MODEL_RULE: OpenAiModelRule = {
  // Weights are published under names with capitals.
  models: ['*istral*', '*odestral*', '*evstral*', '*xtral*'],
  refusesUserAfterTool: true,
}
