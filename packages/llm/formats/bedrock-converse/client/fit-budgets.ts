import { type JsonObject, toObject } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { fitThinking } from '../../shared/reasoning/fit-thinking.ts'

/** The fields for a model that may hold a budget to think. */
const HOLDERS = ['thinking', 'reasoning_config', 'reasoningConfig']

interface FittedFields {
  /** The same object where every budget fits; undefined: the body has none. */
  readonly fields: JsonObject | undefined
  /** Paths of what the output cap leaves no room for. */
  readonly left: readonly string[]
}

/** Fits the budgets among a body's `additionalModelRequestFields` to the output cap; see fitThinking. */
export function fitBudgets(
  body: JsonObject,
  { maxOutputTokens, receivedOutputCap }: Pick<ChatRequest, 'maxOutputTokens' | 'receivedOutputCap'>,
): FittedFields {
  let fields = toObject(body.additionalModelRequestFields)
  const left: string[] = []
  for (const name of HOLDERS) {
    const given = fields?.[name]
    const fitted = fitThinking(given, maxOutputTokens, receivedOutputCap)
    if (fitted === given) continue
    // Copied only where a budget changes, since a body may have 60,000 fields: each copy of them takes 30 ms.
    const { [name]: _, ...others } = fields ?? {}
    fields = fitted === undefined ? others : { ...others, [name]: fitted }
    if (fitted === undefined) left.push(`additionalModelRequestFields.${name}`)
  }
  return { fields, left }
}
