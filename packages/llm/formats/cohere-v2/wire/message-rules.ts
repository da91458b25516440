import {
  DATA,
  forEndUsers,
  SCALAR,
  toListRule,
  toObjectRule,
  toRoleRule,
  toTextOrRule,
  toTypedRule,
  UNREAD_CONTENT,
} from '../../../upstream/outgoing-rules.ts'
import { IMAGE_URL, TOOL, TOOL_CALLS } from '../../shared/requests/chat-rules.ts'
import { withDeclaredTools } from '../../shared/tools/declared-tools.ts'

/** What may go out in `messages` and `documents`. */

/** Names and values of `data` are shown to the model. Source: docs.cohere.com/reference/chat, "documents". */
const DOCUMENT = toTextOrRule(toObjectRule({ id: SCALAR, data: DATA }))

const PART = toTypedRule(
  {
    text: toObjectRule({ type: SCALAR, text: SCALAR }),
    thinking: toObjectRule({ type: SCALAR, thinking: SCALAR }),
    image_url: toObjectRule({ type: SCALAR, image_url: IMAGE_URL }),
    document: toObjectRule({ type: SCALAR, document: DOCUMENT }),
  },
  UNREAD_CONTENT,
)

/** The provider judges the messages that a key sends. Only tools have a price there. */
const ANY_MESSAGES = forEndUsers(
  toListRule(
    toObjectRule({
      role: toRoleRule(['system', 'user', 'assistant', 'tool']),
      content: toTextOrRule(toListRule(PART)),
      tool_calls: TOOL_CALLS,
      tool_call_id: SCALAR,
      tool_plan: SCALAR,
      // They repeat documents and results of tools. The provider keeps no files that an answer could name.
      citations: DATA,
    }),
  ),
)

export const MESSAGES = withDeclaredTools(
  ANY_MESSAGES,
  {
    tool: TOOL,
    // Citations repeat the results of tools.
    dataOfFields: { messages: ['tool_calls', 'citations'], document: ['data'] },
  },
  'messages',
)

export const DOCUMENTS = forEndUsers(toListRule(DOCUMENT))
