import type { EmbeddingFormatId } from '../provider/embedding-service.ts'
import type { Provider } from '../provider/provider.ts'
import { bedrockEmbeddings } from './bedrock.ts'
import { cohereEmbeddings } from './cohere.ts'
import type { EmbeddingFormat } from './embedding-format.ts'
import { geminiEmbeddings } from './gemini.ts'
import { ollamaEmbeddings } from './ollama.ts'
import { openAiEmbeddings } from './openai.ts'
import { vertexEmbeddings } from './vertex.ts'

const FORMATS: Readonly<Record<EmbeddingFormatId, EmbeddingFormat>> = {
  'openai-embeddings': openAiEmbeddings,
  'gemini-embed': geminiEmbeddings,
  'vertex-predict': vertexEmbeddings,
  'bedrock-invoke': bedrockEmbeddings,
  'cohere-embed': cohereEmbeddings,
  'ollama-embed': ollamaEmbeddings,
}

/** How a provider's embeddings are called; undefined: it has none. */
export function findEmbeddingFormat({ embeddings }: Provider): EmbeddingFormat | undefined {
  return embeddings === undefined ? undefined : FORMATS[embeddings.format]
}

/** Inputs that one call to a provider's model takes at most. */
export function maxInputsOf({ embeddings }: Provider, format: EmbeddingFormat, model: string): number {
  return Math.min(embeddings?.maxInputs ?? Number.POSITIVE_INFINITY, format.maxInputs(model))
}

/** Returns true if the provider accepts the numbers of tokens in place of texts. */
export function takesTokens({ embeddings }: Provider, format: EmbeddingFormat): boolean {
  return format.takesTokens === true && embeddings?.openai?.refusesTokens !== true
}
