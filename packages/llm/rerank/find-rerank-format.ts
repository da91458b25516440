import type { Provider } from '../provider/provider.ts'
import type { RerankFormatId } from '../provider/rerank-service.ts'
import { bedrockRerank } from './bedrock.ts'
import { cohereRerank } from './cohere.ts'
import { jinaRerank } from './jina.ts'
import type { RerankFormat } from './rerank-format.ts'
import { voyageRerank } from './voyage.ts'

const FORMATS: Readonly<Record<RerankFormatId, RerankFormat>> = {
  'cohere-rerank': cohereRerank,
  'voyage-rerank': voyageRerank,
  'jina-rerank': jinaRerank,
  'bedrock-rerank': bedrockRerank,
}

/** How a provider's rerankers are called; undefined: it has none. */
export function findRerankFormat({ rerank }: Provider): RerankFormat | undefined {
  return rerank === undefined ? undefined : FORMATS[rerank.format]
}
