import {
  ADDRESS,
  DATA,
  forEndUsers,
  MEDIA,
  type Rule,
  SCALAR,
  STORED,
  toListRule,
  toObjectRule,
  toTextOrRule,
  toTypedRule,
  UNKEPT,
  UNREAD_CONTENT,
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_MARK } from '../../shared/chat-rules.ts'

/** What may go out in `system` and `messages`. */

/** A block contains blocks. */
const BLOCK: Rule = { check: (value, grant) => BLOCKS.check(value, grant) }
const CONTENT = toTextOrRule(toListRule(BLOCK))

const CITATIONS = toObjectRule({ enabled: SCALAR })

const SOURCE = toTypedRule(
  {
    base64: toObjectRule({ type: SCALAR, media_type: SCALAR, data: MEDIA }),
    text: toObjectRule({ type: SCALAR, media_type: SCALAR, data: SCALAR }),
    url: toObjectRule({ type: SCALAR, url: ADDRESS }),
    content: toObjectRule({ type: SCALAR, content: CONTENT }),
    file: toObjectRule({ type: SCALAR, file_id: STORED }),
  },
  UNREAD_CONTENT,
)

/** The result of a tool that the caller runs, and how it was called. */
const CALLER = toObjectRule({ type: SCALAR, tool_id: SCALAR })

/** All other kinds are what tools that the provider runs left in the conversation. */
const BLOCKS = toTypedRule(
  {
    text: toObjectRule({ type: SCALAR, text: SCALAR, citations: UNKEPT, cache_control: CACHE_MARK }),
    image: toObjectRule({ type: SCALAR, source: SOURCE, cache_control: CACHE_MARK }),
    document: toObjectRule({
      type: SCALAR,
      source: SOURCE,
      title: SCALAR,
      context: SCALAR,
      citations: CITATIONS,
      cache_control: CACHE_MARK,
    }),
    search_result: toObjectRule({
      type: SCALAR,
      title: SCALAR,
      source: SCALAR,
      content: CONTENT,
      citations: CITATIONS,
      cache_control: CACHE_MARK,
    }),
    tool_reference: toObjectRule({ type: SCALAR, tool_name: SCALAR, cache_control: CACHE_MARK }),
    tool_use: toObjectRule({
      type: SCALAR,
      id: SCALAR,
      name: SCALAR,
      input: DATA,
      caller: CALLER,
      cache_control: CACHE_MARK,
    }),
    tool_result: toObjectRule({
      type: SCALAR,
      tool_use_id: SCALAR,
      content: CONTENT,
      is_error: SCALAR,
      cache_control: CACHE_MARK,
    }),
    thinking: toObjectRule({ type: SCALAR, thinking: SCALAR, signature: SCALAR }),
    redacted_thinking: toObjectRule({ type: SCALAR, data: SCALAR }),
  },
  UNREAD_CONTENT,
)

/** The provider judges the texts that a key sends: nothing in them has a price of its own. */
export const SYSTEM = forEndUsers(CONTENT)

export const MESSAGES = forEndUsers(
  toListRule(
    toObjectRule({
      role: SCALAR,
      content: CONTENT,
      // Clients repeat there with what effort an answer was made.
      output_config: toObjectRule({ effort: SCALAR }),
    }),
  ),
)
