import { FieldTable, own } from '../../shared/field-table.ts'
import { openAiFields } from '../../shared/openai-fields.ts'

/** The predecessors of `tools` and `tool_choice`. They pass on unread. */
const OLD_TOOL_FIELDS = { functions: own(), function_call: own() }

/** The fields of `POST /chat/completions`: those that the gateway reads, prices, or knows to change neither price nor state. */
export const FIELDS = new FieldTable({
  ...openAiFields({ strict: false }),
  n: own(),
  logit_bias: own(),
  logprobs: own(),
  top_logprobs: own(),
  verbosity: own(),
  safety_identifier: own(),
  prompt_cache_key: own(),
  metadata: own(),
  service_tier: own(),
  // Never on for a client token: see plan-chat.ts.
  store: own(),
  ...OLD_TOOL_FIELDS,
})

/** Does the gateway know the field and read its value? */
export function isRead(name: string): boolean {
  return FIELDS.names.has(name) && !Object.hasOwn(OLD_TOOL_FIELDS, name)
}
