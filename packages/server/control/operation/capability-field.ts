import type { Capability } from '@rideau/llm/provider/catalog-model'
import { z } from './zod.ts'

const CAPABILITIES = [
  'chat',
  'tools',
  'response_format',
  'vision',
  'reasoning',
  'embeddings',
  'images',
  'transcription',
  'speech',
  'rerank',
] as const satisfies readonly Capability[]

/** What a model can do, as GET /v1/models reports it. */
export const capabilityField = z.enum(CAPABILITIES)
