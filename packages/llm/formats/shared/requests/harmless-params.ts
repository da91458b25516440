import type { Json } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'

/** Values that ask for what a provider does without them: to leave them out changes no answer. */
const HARMLESS: Readonly<Record<string, (value: Json | undefined) => boolean>> = toTable({
  user: () => true,
  temperature: value => value === 1,
  top_p: value => value === 1,
  n: value => value === 1,
  store: value => value === false,
  logprobs: value => value === false,
  top_logprobs: value => value === 0,
  presence_penalty: value => value === 0,
  frequency_penalty: value => value === 0,
  parallel_tool_calls: value => value === true,
  tool_choice: value => value === 'auto',
  response_format: value => toObject(value)?.type === 'text',
  service_tier: value => value === 'auto' || value === 'default',
  logit_bias: value => Object.keys(toObject(value) ?? { biased: 1 }).length === 0,
  stop: value => Array.isArray(value) && value.length === 0,
  metadata: value => value !== undefined && isEmptyRecord(value),
})

/** Returns true for an object whose fields are all null, such as metadata that names nothing. */
export function isEmptyRecord(value: Json): boolean {
  const record = toObject(value)
  if (record === undefined) return false
  for (const name in record) if (record[name] !== null) return false
  return true
}

export function isHarmless(name: string, value: Json | undefined): boolean {
  if (value === null || value === undefined) return true
  return Object.hasOwn(HARMLESS, name) && HARMLESS[name]?.(value) === true
}
