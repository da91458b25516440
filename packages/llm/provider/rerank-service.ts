export type RerankFormatId = 'cohere-rerank' | 'voyage-rerank' | 'jina-rerank' | 'bedrock-rerank'

/** How a provider's rerankers are reached: data in its file. */
export interface RerankService {
  readonly format: RerankFormatId
}
