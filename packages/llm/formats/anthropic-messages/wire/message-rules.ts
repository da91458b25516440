import {
  ADDRESS,
  DATA,
  ECHO,
  forEndUsers,
  forKeys,
  MEDIA,
  REFUSED,
  type Rule,
  SCALAR,
  STORED,
  toListRule,
  toObjectRule,
  toRoleRule,
  toTextOrRule,
  toTypedRule,
  UNREAD_CONTENT,
} from '../../../upstream/outgoing-rules.ts'
import { CACHE_MARK } from '../../shared/requests/chat-rules.ts'
import { type DeclaredTools, withDeclaredTools } from '../../shared/tools/declared-tools.ts'
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

/** Names a tool, or a server's tools, that is declared elsewhere. */
const REFERENCE = toObjectRule({ type: SCALAR, name: SCALAR, server_name: SCALAR }, 'refused')
const DEFINITION = toObjectRule({ type: SCALAR, definition: OWN_TOOL }, 'refused')
const CHANGED_TOOL = toTypedRule(
  {
    tool_reference: REFERENCE,
    mcp_tool_reference: REFERENCE,
    mcp_toolset_reference: REFERENCE,
    tool_definition: DEFINITION,
  },
  REFUSED,
  'tool_reference',
)
const TOOL_CHANGE = toObjectRule({ type: SCALAR, tool: CHANGED_TOOL, cache_control: CACHE_MARK }, 'refused')
const TOOL_CHANGES = toListRule(TOOL_CHANGE)

/** A tool in content that the gateway does not know: one that the caller runs, or a name of one that is declared elsewhere. */
const ANY_TOOL = toTypedRule(
  {
    tool_reference: toObjectRule({ type: SCALAR, name: SCALAR, tool_name: SCALAR }, 'refused'),
    mcp_tool_reference: REFERENCE,
    mcp_toolset_reference: REFERENCE,
    tool_definition: DEFINITION,
  },
  OWN_TOOL,
)

/** The result of a tool that the caller runs, and how it was called. */
const CALLER = toObjectRule({ type: SCALAR, tool_id: SCALAR })

/** How a tool that the provider ran was called. */
const PROVIDERS_CALL = forKeys(
  toObjectRule({
    type: SCALAR,
    id: SCALAR,
    name: SCALAR,
    server_name: SCALAR,
    input: DATA,
    caller: CALLER,
    cache_control: CACHE_MARK,
  }),
)

/** All other kinds are what tools that the provider runs left in the conversation. */
const BLOCKS = toTypedRule(
  {
    text: toObjectRule({
      type: SCALAR,
      text: SCALAR,
      citations: ECHO,
      cache_control: CACHE_MARK,
    }),
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
    // The arguments of what ran are data, like those of the caller's tools.
    server_tool_use: PROVIDERS_CALL,
    mcp_tool_use: PROVIDERS_CALL,
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

/** Where tools may stand among the messages, and the arguments of calls, which are the caller's data. */
const DECLARED: DeclaredTools = {
  tool: OWN_TOOL,
  change: ANY_TOOL,
  kinds: { tool_addition: TOOL_CHANGE, tool_removal: TOOL_CHANGE, tool_definition: DEFINITION },
  fields: { toolchanges: TOOL_CHANGES },
  dataOfTypes: { tool_use: ['input'], server_tool_use: ['input'], mcp_tool_use: ['input'] },
}

/** The provider judges the texts that a key sends. Only tools have a price there. */
export const SYSTEM = withDeclaredTools(forEndUsers(CONTENT), DECLARED)

export const MESSAGES = withDeclaredTools(
  forEndUsers(
    toListRule(
      toObjectRule({
        role: toRoleRule(['user', 'assistant', 'system']),
        content: CONTENT,
        // Clients repeat there with what effort an answer was made.
        output_config: toObjectRule({ effort: SCALAR }),
      }),
    ),
  ),
  DECLARED,
)
