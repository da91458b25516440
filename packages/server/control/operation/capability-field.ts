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
] as const satisfies readonly Capability[]

/** What a model can do (contract.md §3 "GET /v1/models"). */
export const capabilityField = z.enum(CAPABILITIES)
