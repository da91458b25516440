import { COMPACT_ID } from '@rideau/llm/formats/openai-compact/compact-id'
import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Refusal } from '../../core/refusal.ts'
import type { ResolvedTarget } from './target-selection.ts'

/**
 * Refuses a target that does not have the route of a format that is never translated, or whose answer there nothing bounds:
 * a reservation must hold it.
 */
export function checkOwnRoute(
  { provider, id, catalogModel }: ResolvedTarget,
  format: ClientFormat,
  source: SourceBody,
): Refusal | undefined {
  if (source.format === 'openai-completions' && format.id !== source.format) {
    return lacking(`The model ${id} serves chat requests only: use /chat/completions.`)
  }
  if (source.format === COMPACT_ID && format.id !== source.format) {
    return lacking(
      `The provider ${provider.id} cannot compact conversations: only OpenAI's models read what its compaction writes. Have the client summarize the conversation in its own words.`,
    )
  }
  if (format.hasNoOutputCap === true && (catalogModel?.max_output_tokens ?? null) === null) {
    return lacking(
      `No field bounds what a compaction writes, and the maximum output of the model ${id} is unknown. Set max_output_tokens in a custom model of the environment (custom-models).`,
    )
  }
  return undefined
}

function lacking(message: string): Refusal {
  return { code: 'model_missing_capability', message, param: 'model' }
}
