import type { SourceBody } from '../../../request/source-body.ts'
import { readField } from '../../shared/lost-params.ts'

/** What only an OpenAI-format caller can send and we translate. */
export interface SourceParams {
  readonly n?: number
  readonly topK?: number
}

export function readSource(source: SourceBody | undefined): SourceParams {
  if (source?.format !== 'openai-chat') return {}
  const n = readField(source, 'n')
  const topK = readField(source, 'top_k')
  return {
    ...(typeof n === 'number' ? { n } : {}),
    ...(typeof topK === 'number' ? { topK } : {}),
  }
}
