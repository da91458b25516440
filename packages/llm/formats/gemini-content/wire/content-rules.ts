import { hasPlainAuthority, parseUrl } from '../../../request/bounded-url.ts'
import {
  ADDRESS,
  MEDIA as BYTES,
  DATA,
  forKeys,
  type Rule,
  SCALAR,
  STORED,
  toHostedRule,
  toListRule,
  toObjectRule,
  toRoleRule,
  type UnknownFields,
} from '../../../upstream/outgoing-rules.ts'
import { type DeclaredTools, withDeclaredTools } from '../../shared/tools/declared-tools.ts'
import { toSnake } from './spell-camel.ts'

/** What may go out in contents and tools. The provider takes each name in two spellings. */

/** An object with these fields, in both spellings. */
function toFields(rules: Readonly<Record<string, Rule>>, unknown: UnknownFields = 'free'): Rule {
  const both = Object.entries(rules).flatMap(([name, rule]) => [
    [name, rule] as const,
    [toSnake(name), rule] as const,
  ])
  return toObjectRule(Object.fromEntries(both), unknown)
}

/** Longer than any server takes. */
const MAX_URI = 8192

/** An address that only the provider can read: a file that was uploaded there, or one in a bucket of its account. */
export function isStoredAtProvider(fileUri: string): boolean {
  if (fileUri.length > MAX_URI || !/^https?:\/\//i.test(fileUri) || !hasPlainAuthority(fileUri)) return true
  const url = parseUrl(fileUri)
  if (url === undefined) return true
  const { hostname, pathname } = url
  const host = hostname.replace(/\.$/, '')
  // Whatever follows the id, and however it is written: how the provider reads it is unknown.
  if (/(?:^|\.)googleapis\.com$/.test(host) && !/(?:^|\.)storage\.googleapis\.com$/.test(host)) return true
  return isFilePath(pathname)
}

/**
 * True for `/v1beta/files/{id}` at the end of a path, with any slashes. In two expressions, since one tries each pair of slashes
 * if their number is large.
 */
function isFilePath(pathname: string): boolean {
  const files = /\/v\w+(?:\/|%2f)+files(?:\/|%2f)+/gi
  for (let found = files.exec(pathname); found !== null; found = files.exec(pathname)) {
    if (/^[^/]*\/*$/.test(pathname.slice(files.lastIndex))) return true
    // The next one may begin with the last slash of this one.
    files.lastIndex = found.index + 1
  }
  return false
}

const FILE_URI: Rule = {
  check: (value, grant) =>
    (typeof value === 'string' && !isStoredAtProvider(value) ? ADDRESS : STORED).check(value, grant),
}

const MEDIA: Readonly<Record<string, Rule>> = {
  inlineData: toFields({ mimeType: SCALAR, data: BYTES, displayName: SCALAR }),
  fileData: toFields({ mimeType: SCALAR, fileUri: FILE_URI, displayName: SCALAR }),
}

const RESULT = toFields({
  id: SCALAR,
  name: SCALAR,
  response: DATA,
  parts: toListRule(toFields({ ...MEDIA, text: SCALAR })),
  scheduling: SCALAR,
  willContinue: SCALAR,
})

/** Fields that only a provider of the format knows: they qualify the content, or are content of its own tools. */
export const NATIVE_PART_FIELDS = [
  ...['videoMetadata', 'mediaResolution', 'partMetadata', 'executableCode', 'codeExecutionResult'],
  ...['toolCall', 'toolResponse'],
]

const PART = toFields({
  ...MEDIA,
  text: SCALAR,
  thought: SCALAR,
  thoughtSignature: SCALAR,
  functionCall: toFields({ id: SCALAR, name: SCALAR, args: DATA }),
  functionResponse: RESULT,
  ...Object.fromEntries(NATIVE_PART_FIELDS.map(name => [name, forKeys(DATA)])),
})

const DECLARATION = toFields(
  {
    name: SCALAR,
    description: SCALAR,
    parameters: DATA,
    parametersJsonSchema: DATA,
    behavior: SCALAR,
    response: DATA,
    responseJsonSchema: DATA,
  },
  'refused',
)

/** Functions that the caller runs. */
const FUNCTIONS = toFields({ functionDeclarations: toListRule(DECLARATION) }, 'refused')

/** Where tools may stand among the parts, and data of the caller or of the provider's own tools. */
const DECLARED: DeclaredTools = {
  tool: FUNCTIONS,
  dataOfFields: {
    functionCall: ['args'],
    function_call: ['args'],
    functionResponse: ['response'],
    function_response: ['response'],
    parts: NATIVE_PART_FIELDS.flatMap(name => [name, toSnake(name)]),
  },
}

/** Clients name the instructions `system`, whose role the provider does not read. */
const ROLE = toRoleRule(['user', 'model', 'function', 'tool', 'system'])

const OF_CONTENT = toFields({ role: ROLE, parts: toListRule(PART) })
export const CONTENT = withDeclaredTools(OF_CONTENT, DECLARED)
export const CONTENTS = withDeclaredTools(toListRule(OF_CONTENT), DECLARED)

/** Tools that the provider runs, in the forms whose price can be known, by the field that asks for each. */
export const HOSTED_RULES: ReadonlyMap<string, Rule> = new Map([
  ['googleSearch', toFields({ excludeDomains: SCALAR, timeRangeFilter: DATA }, 'refused')],
  ['googleSearchRetrieval', toFields({ dynamicRetrievalConfig: DATA }, 'refused')],
  ['urlContext', toFields({}, 'refused')],
  ['codeExecution', toFields({}, 'refused')],
])

/** Other tools that the provider runs, which reach nothing of the account. */
export const UNPRICED_TOOLS: ReadonlySet<string> = new Set(['googleMaps', 'enterpriseWebSearch'])

/** Functions, and what was granted: the provider runs every other kind of tool, at a price of its own. */
export const TOOLS = toListRule(
  toFields(
    {
      functionDeclarations: toListRule(DECLARATION),
      ...Object.fromEntries([...HOSTED_RULES].map(([name, rule]) => [name, toHostedRule(name, rule)])),
    },
    'refused',
  ),
)

export const TOOL_CONFIG = toFields(
  {
    functionCallingConfig: toFields(
      { mode: SCALAR, allowedFunctionNames: SCALAR, streamFunctionCallArguments: SCALAR },
      'refused',
    ),
  },
  'reserved',
)

export const THINKING = toFields(
  { includeThoughts: SCALAR, thinkingLevel: SCALAR, thinkingBudget: SCALAR },
  'refused',
)

/** Text alone: images and audio have prices of their own. */
export const TEXT_ALONE: Rule = {
  check: value => (Array.isArray(value) && value.every(isText) ? undefined : ''),
}

function isText(kind: unknown): boolean {
  return typeof kind === 'string' && kind.toUpperCase() === 'TEXT'
}

export function isUsualTier(tier: string): boolean {
  return /^(?:service_tier_)?(?:standard|unspecified)$/i.test(tier)
}

export const USUAL_TIER: Rule = {
  check: value => (typeof value === 'string' && isUsualTier(value) ? undefined : ''),
}
