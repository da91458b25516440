import type { Json } from '../../../json/json-value.ts'
import { toArray, toObject } from '../../../json/json-value.ts'
import {
  ADDRESS,
  DATA,
  forEndUsers,
  forKeys,
  type Grant,
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
import { OWN_TOOL } from './tool-rules.ts'

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

/** What names a tool that is declared elsewhere, or declares one. */
const CHANGED_TOOL = toTypedRule(
  { tool_definition: toObjectRule({ type: SCALAR, definition: OWN_TOOL }, 'refused') },
  toObjectRule({ type: SCALAR, name: SCALAR, server_name: SCALAR }, 'refused'),
)
const TOOL_CHANGE = toObjectRule({ type: SCALAR, tool: CHANGED_TOOL, cache_control: CACHE_MARK }, 'refused')
const TOOL_CHANGES = toListRule(TOOL_CHANGE)

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
    tool_addition: forKeys(TOOL_CHANGE),
    tool_removal: forKeys(TOOL_CHANGE),
    compaction: forKeys(
      toObjectRule({
        type: SCALAR,
        content: SCALAR,
        encrypted_content: SCALAR,
        signature: SCALAR,
        tool_changes: TOOL_CHANGES,
        cache_control: CACHE_MARK,
      }),
    ),
  },
  UNREAD_CONTENT,
)

/** The provider judges the texts that a key sends: nothing in them has a price of its own. */
export const SYSTEM = forEndUsers(CONTENT)

const OF_END_USERS = toListRule(
  toObjectRule({
    role: SCALAR,
    content: CONTENT,
    // Clients repeat there with what effort an answer was made.
    output_config: toObjectRule({ effort: SCALAR }),
  }),
)

/** Of what a key sends only the tools have a price, which may join a conversation in the middle of it. */
export const MESSAGES: Rule = {
  check: (value, grant) =>
    grant.sender === 'key' ? findAddedTool(value, grant) : OF_END_USERS.check(value, grant),
}

function findAddedTool(messages: Json, grant: Grant): string | undefined {
  for (const [at, message] of toArray(messages).entries()) {
    const content = toObject(message)?.content
    if (!Array.isArray(content)) continue
    for (let index = 0; index < content.length; index++) {
      const found = checkChanges(content[index] as Json, grant)
      if (found !== undefined) return `[${at}].content[${index}]${found}`
    }
  }
  return undefined
}

function checkChanges(value: Json, grant: Grant): string | undefined {
  const block = toObject(value)
  if (block === undefined) return undefined
  const { type, tool_changes: changes } = block
  if (type === 'tool_addition' || type === 'tool_removal') return TOOL_CHANGE.check(block, grant)
  if (changes === undefined || changes === null) return undefined
  const found = TOOL_CHANGES.check(changes, grant)
  return found === undefined ? undefined : `.tool_changes${found}`
}
