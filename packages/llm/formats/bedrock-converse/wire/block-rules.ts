import {
  MEDIA as BYTES,
  DATA,
  forKeys,
  type Rule,
  SCALAR,
  toListRule,
  toObjectRule,
  UNKEPT,
} from '../../../upstream/outgoing-rules.ts'

/** What may go out in `system`, `messages` and `toolConfig`. */

export const CACHE_POINT = toObjectRule({ type: SCALAR, ttl: SCALAR })

/** Fields that hold the content itself. Any other field names an object in the account's store. */
export const SOURCE = toObjectRule({ bytes: BYTES, text: SCALAR, content: UNKEPT }, 'refused')

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

const GUARDED = toObjectRule({ text: toObjectRule({ text: SCALAR, qualifiers: SCALAR }) })

/** Names a tool of `toolConfig`: any other field may declare one that the provider runs. */
const TOOL_CHANGE = toObjectRule(
  { tool: toObjectRule({ name: SCALAR, type: SCALAR, serverName: SCALAR }, 'refused') },
  'refused',
)

const ANY_BLOCK = toObjectRule({
  text: SCALAR,
  json: DATA,
  guardContent: GUARDED,
  citationsContent: UNKEPT,
  searchResult: toObjectRule({ title: SCALAR, source: SCALAR, content: UNKEPT, citations: CITATIONS }),
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

export const SYSTEM = toListRule(
  toObjectRule({ text: SCALAR, guardContent: GUARDED, cachePoint: CACHE_POINT }),
)
export const MESSAGES = toListRule(toObjectRule({ role: SCALAR, content: toListRule(BLOCK) }))

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

export const TOOL_CHOICE = toObjectRule(
  {
    auto: toObjectRule({}, 'reserved'),
    any: toObjectRule({}, 'reserved'),
    tool: toObjectRule({ name: SCALAR }, 'reserved'),
  },
  'refused',
)
