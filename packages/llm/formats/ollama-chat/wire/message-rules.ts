import {
  DATA,
  MEDIA,
  SCALAR,
  toListRule,
  toObjectRule,
  toRoleRule,
} from '../../../upstream/outgoing-rules.ts'

/** What may go out in `messages`. The gateway writes them anew, from the fields that it knows. */
export const MESSAGES = toListRule(
  toObjectRule(
    {
      role: toRoleRule(['system', 'user', 'assistant', 'tool']),
      content: SCALAR,
      thinking: SCALAR,
      images: MEDIA,
      tool_name: SCALAR,
      tool_call_id: SCALAR,
      tool_calls: toListRule(
        toObjectRule({
          id: SCALAR,
          type: SCALAR,
          function: toObjectRule({ name: SCALAR, arguments: DATA, index: SCALAR }),
        }),
      ),
    },
    'reserved',
  ),
)
