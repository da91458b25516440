import {
  CHOICES,
  DATA,
  forKeys,
  METADATA,
  type Rule,
  SCALAR,
  SHARE_OF_CAP,
  STORE,
  toListRule,
  toObjectRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_OPTIONS, CACHE_TTL, REASONING_MODE } from '../../shared/requests/chat-rules.ts'
import { FieldTable, sent } from '../../shared/requests/field-table.ts'
import { openAiFields } from '../../shared/requests/openai-fields.ts'

/** A function that can be called, as the predecessor of `tools` has it. */
const OLD_FUNCTION = toObjectRule({ name: SCALAR, description: SCALAR, parameters: DATA }, 'reserved')

/** The predecessors of `tools` and `tool_choice`. They pass on unread. */
const OLD_TOOL_FIELDS = {
  functions: sent(forKeys(toListRule(OLD_FUNCTION))),
  function_call: sent(forKeys(DATA)),
}

/** Providers' other words for parameters: see OpenAiDeviations. */
const RESPELLED: Readonly<Record<string, Rule>> = {
  random_seed: SCALAR,
  enable_thinking: SCALAR,
  // Some providers bound reasoning apart from the answer.
  thinking_budget: SHARE_OF_CAP,
  thinking: toObjectRule({ type: SCALAR }, 'reserved'),
  // OpenRouter's own, which other providers get as an effort.
  // What it spends is output, which the cap bounds.
  reasoning: toObjectRule(
    {
      effort: SCALAR,
      enabled: SCALAR,
      exclude: SCALAR,
      summary: SCALAR,
      max_tokens: SCALAR,
      mode: REASONING_MODE,
    },
    'reserved',
  ),
}

/** Speech and images have prices of their own. */
const TEXT_ALONE: Rule = {
  check: value => (Array.isArray(value) && value.every(kind => kind === 'text') ? undefined : ''),
}

/** The fields of `POST /chat/completions`: those that the gateway reads, prices, or knows to change neither price nor state. */
export const FIELDS = new FieldTable(
  {
    ...openAiFields({ strict: false }),
    n: sent(CHOICES),
    logit_bias: sent(DATA),
    logprobs: sent(SCALAR),
    top_logprobs: sent(SCALAR),
    verbosity: sent(SCALAR),
    safety_identifier: sent(SCALAR),
    prompt_cache_key: sent(SCALAR),
    prompt_cache_retention: sent(CACHE_TTL),
    prompt_cache_options: sent(CACHE_OPTIONS),
    modalities: sent(TEXT_ALONE),
    metadata: sent(METADATA),
    service_tier: sent(toUsualRule(['auto', 'default'])),
    // Never on for a client token: see select-chat-targets.ts.
    store: sent(STORE),
    ...OLD_TOOL_FIELDS,
  },
  { written: RESPELLED },
)

/** Returns true if the gateway knows the field and reads its value. */
export function isRead(name: string): boolean {
  return FIELDS.names.has(name) && !Object.hasOwn(OLD_TOOL_FIELDS, name)
}
