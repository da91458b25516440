import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { Fault } from '../../core/fault.ts'

/** Throws `request_validation_failed` for the first query parameter that is not one of `known`, or that is given twice. */
export function assertKnownQuery(url: string, known: readonly string[]): void {
  const start = url.indexOf('?')
  if (start < 0) return
  const seen = new Set<string>()
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    if (!known.includes(name)) {
      throw new Fault('request_validation_failed', 'Unknown query parameter.', { param: excerptName(name) })
    }
    if (seen.has(name)) {
      throw new Fault('request_validation_failed', 'A query parameter may be given once.', { param: name })
    }
    seen.add(name)
  }
}
