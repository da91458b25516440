import type { Json, SourceBody } from '../../spec.ts'

/** What only an OpenAI-format caller can send and we translate. */
export interface SourceParams {
  readonly n?: number
  readonly topK?: number
}

export function readSource(source: SourceBody | undefined): SourceParams {
  if (source?.surface !== 'openai-chat') return {}
  const n = readField(source, 'n')
  const topK = readField(source, 'top_k')
  return {
    ...(typeof n === 'number' ? { n } : {}),
    ...(typeof topK === 'number' ? { topK } : {}),
  }
}

/** undefined: absent. */
export function readField({ bytes, fields }: SourceBody, name: string): Json | undefined {
  const span = fields.get(name)
  if (span === undefined) return undefined
  return JSON.parse(bytes.toString('utf8', span.valueStart, span.valueEnd)) as Json
}
