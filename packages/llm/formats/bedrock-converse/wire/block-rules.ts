import {
  MEDIA as BYTES,
  DATA,
  ECHO,
  forEndUsers,
  forKeys,
  type Rule,
  SCALAR,
  toListRule,
  toObjectRule,
  toRoleRule,
  toUsualRule,
} from '../../../upstream/outgoing-rules.ts'
import { type DeclaredTools, withDeclaredTools } from '../../shared/tools/declared-tools.ts'

/** What may go out in `system`, `messages` and `toolConfig`. */

/** Any other field may be a tool that the provider runs. */
const CACHE_POINT = toObjectRule({ type: SCALAR, ttl: SCALAR }, 'refused')

/** Pieces of a document, which are texts. */
const TEXTS = forEndUsers(toListRule(toObjectRule({ text: SCALAR })))

/** Fields that hold the content itself. Any other field names an object in the account's store. */
export const SOURCE = toObjectRule({ bytes: BYTES, text: SCALAR, content: TEXTS }, 'refused')

const CITATIONS = toObjectRule({ enabled: SCALAR })

const MEDIA = toObjectRule({
  format: SCALAR,
  name: SCALAR,
  source: SOURCE,
  context: SCALAR,
  citations: CITATIONS,
})

/** A result contains blocks. */
const BLOCK: Rule = { check: (value, grant) => ANY_BLOCK.check(value, grant) }

const REASONING = toObjectRule({
  reasoningText: toObjectRule({ text: SCALAR, signature: SCALAR }),
  redactedContent: SCALAR,
})

const CITED = forEndUsers(
  toObjectRule({
    content: TEXTS,
    citations: toListRule(
      toObjectRule({
        title: SCALAR,
        source: SCALAR,
        sourceContent: TEXTS,
        location: ECHO,
      }),
    ),
  }),
)

const GUARDED = toObjectRule({ text: toObjectRule({ text: SCALAR, qualifiers: SCALAR }) })

/** Names a tool of `toolConfig`: any other field may declare one that the provider runs. */
const TOOL_NAME = toObjectRule(
  {
    name: SCALAR,
    type: toUsualRule(['tool_reference', 'mcp_tool_reference', 'mcp_toolset_reference']),
    serverName: SCALAR,
  },
  'refused',
)
const TOOL_CHANGE = toObjectRule({ tool: TOOL_NAME }, 'refused')

const ANY_BLOCK = toObjectRule({
  text: SCALAR,
  json: DATA,
  guardContent: GUARDED,
  citationsContent: CITED,
  searchResult: toObjectRule({
    title: SCALAR,
    source: SCALAR,
    content: TEXTS,
    citations: CITATIONS,
  }),
  image: MEDIA,
  audio: MEDIA,
  document: MEDIA,
  video: forKeys(MEDIA),
  toolUse: toObjectRule({ toolUseId: SCALAR, name: SCALAR, input: DATA }),
  toolResult: toObjectRule({ toolUseId: SCALAR, content: toListRule(BLOCK), status: SCALAR }),
  reasoningContent: REASONING,
  cachePoint: CACHE_POINT,
  toolAddition: forKeys(TOOL_CHANGE),
  toolRemoval: forKeys(TOOL_CHANGE),
})

const TOOL_SPEC = toObjectRule(
  {
    name: SCALAR,
    description: SCALAR,
    inputSchema: toObjectRule({ json: DATA }, 'reserved'),
    strict: SCALAR,
  },
  'reserved',
)

/** Any other field may be a tool that the provider runs itself. */
export const TOOL = toObjectRule({ toolSpec: TOOL_SPEC, cachePoint: CACHE_POINT }, 'refused')

/** Where tools may stand among the blocks, and the caller's own data. */
const DECLARED: DeclaredTools = {
  tool: TOOL,
  change: {
    check: (value, grant) =>
      TOOL_NAME.check(value, grant) === undefined ? undefined : TOOL.check(value, grant),
  },
  dataOfFields: { toolUse: ['input'], content: ['json'] },
}

export const SYSTEM = withDeclaredTools(
  toListRule(toObjectRule({ text: SCALAR, guardContent: GUARDED, cachePoint: CACHE_POINT })),
  DECLARED,
)
export const MESSAGES = withDeclaredTools(
  toListRule(toObjectRule({ role: toRoleRule(['user', 'assistant', 'system']), content: toListRule(BLOCK) })),
  DECLARED,
)

export const TOOL_CHOICE = toObjectRule(
  {
    auto: toObjectRule({}, 'reserved'),
    any: toObjectRule({}, 'reserved'),
    tool: toObjectRule({ name: SCALAR }, 'reserved'),
  },
  'refused',
)
