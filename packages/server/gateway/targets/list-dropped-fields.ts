import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import { isHint } from '@rideau/llm/formats/shared/requests/hints'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { Json } from '@rideau/llm/json/json-value'
import type { Provider } from '@rideau/llm/provider/provider'
import type { SourceBody } from '@rideau/llm/request/source-body'
import { toSender } from '../../core/access/to-sender.ts'
import type { ChatTarget } from './chat-selection.ts'
import type { GrantedTools } from './grant-hosted-tools.ts'
import type { Requester } from './requester.ts'

/** The name of a parameter that asks for one call at a time. */
const PARALLEL_TOOL_CALLS = 'parallel_tool_calls'

const STORE = 'store'
/** Names of a caller's own user, and of the cache that the requests of one share. */
const IDENTITIES = ['user', 'safety_identifier', 'prompt_cache_key']

/** Names and values for a provider's records, by their names in all formats. */
const METADATA = ['metadata', 'client_metadata', 'requestMetadata']

/** Whether the gateway itself must ensure one call at a time, because the target has no field for it. */
export function isOneCallEnsured(
  format: ClientFormat,
  source: SourceBody,
  unsupportedParams: readonly string[],
): boolean {
  return format.id !== source.format && unsupportedParams.includes(PARALLEL_TOOL_CALLS)
}

/**
 * Returns the fields that the target does not support, as the caller wrote them. `unsupportedParams` are those that its
 * format found.
 */
export function listUnsupportedFields(
  { findings }: ParsedChat,
  { format, provider, model }: Pick<ChatTarget, 'format' | 'provider' | 'model'>,
  source: SourceBody,
  unsupportedParams: readonly string[],
  isChoiceDropped: boolean,
): readonly string[] {
  const isMarkLost =
    findings.cacheMark !== undefined &&
    format.id !== source.format &&
    format.takesCacheMarks?.(provider, model, source) !== true
  const { list, set } = findUnreadFields(findings, format, source, isMarkLost)
  const others = isChoiceDropped ? ['tool_choice', ...unsupportedParams] : unsupportedParams
  const isWhole = list.length === 0 && !isChoiceDropped
  // concat copies 60,000 names in a tenth of the time that a spread takes.
  const unsupported = isWhole ? others : list.concat([...new Set(others)].filter(name => !set.has(name)))
  return isOneCallEnsured(format, source, unsupportedParams)
    ? unsupported.filter(name => name !== PARALLEL_TOOL_CALLS)
    : unsupported
}

/** Returns the first field without which the answer would be another one; undefined if only hints are unsupported. */
export function findLost(unsupported: readonly string[], withheld: readonly string[]): string | undefined {
  return unsupported.find(name => !isHint(name) && !withheld.includes(name))
}

/**
 * Returns all fields that are left out of the request to a target, as the caller is told: unsupported ones, and those that are
 * never refused.
 */
export function listDroppedFields(
  unsupported: readonly string[],
  { findings }: ParsedChat,
  format: ClientFormat,
  source: SourceBody,
  hosted: GrantedTools | undefined,
  withheld: readonly string[],
): readonly string[] {
  const reasoning = listUnreadableReasoning(findings, format, source)
  const withReasoning = reasoning.length === 0 ? unsupported : reasoning.concat(unsupported)
  const withTools =
    hosted === undefined || hosted.leftOut.length === 0 ? withReasoning : hosted.leftOut.concat(withReasoning)
  const lost = withheld.filter(name => isLost(name, source) && !withTools.includes(name))
  return lost.length === 0 ? withTools : withTools.concat(lost)
}

/**
 * Returns the fields that an end user's request goes without: answers are not stored, and no end user is named to the provider by
 * another's name or reaches another's cache. A server of one's own may be a proxy that chooses where a request goes by its metadata.
 */
export function listWithheld(
  { format, value }: SourceBody,
  { models }: Provider,
  { caller, environment }: Requester,
): readonly string[] {
  if (caller.kind !== 'client_token') return NOTHING
  const withheld = [STORE]
  if (toSender(caller, environment) === 'trusted_end_user') return withheld
  for (const name of IDENTITIES) if (isSet(value[name])) withheld.push(name)
  if (format === 'native') return withheld
  for (const name of METADATA) {
    if (isSet(value[name]) && (format === 'anthropic-messages' || models === 'any')) withheld.push(name)
  }
  return withheld
}

const NOTHING: readonly string[] = []

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

/** Returns the fields that are left out of the request to a target, whether the caller is told or not. */
export function listUnsentFields({
  dropped,
  withheld,
}: Pick<ChatTarget, 'dropped' | 'withheld'>): readonly string[] {
  // Not by a set, which takes 5 ms of 60,000 names.
  return withheld.length === 0 ? dropped : dropped.concat(withheld.filter(name => !dropped.includes(name)))
}

/** A user's name changes no answer. */
function isLost(name: string, source: SourceBody): boolean {
  return name === STORE ? asksToStore(source) : name !== 'user'
}

/** False for what an end user's request means anyway: nothing is lost. */
function asksToStore({ value: { store = false } }: SourceBody): boolean {
  return store !== false && store !== null
}

interface UnreadFields {
  /** Each once. */
  readonly list: readonly string[]
  readonly set: ReadonlySet<string>
}

const ALL_READ: UnreadFields = { list: NOTHING, set: new Set() }

/** What each target of an alias loses of one request, which may have 60,000 such fields: a set of them takes 5 ms. */
const unreadOfFindings = new WeakMap<Findings, Map<string, UnreadFields>>()

function findUnreadFields(
  findings: Findings,
  format: ClientFormat,
  source: SourceBody,
  isMarkLost: boolean,
): UnreadFields {
  const { hosted, unknownFields, nativeOnly, cacheMark } = findings
  const isForeign = format.id !== source.format
  const mark = isMarkLost && cacheMark !== undefined ? cacheMark : ''
  if (hosted.length + unknownFields.length + nativeOnly.length === 0 && mark === '') return ALL_READ
  const lists = unreadOfFindings.get(findings) ?? new Map<string, UnreadFields>()
  unreadOfFindings.set(findings, lists)
  const kind = isForeign ? `foreign ${mark}` : ''
  let unread = lists.get(kind)
  if (unread === undefined) {
    const set = new Set([...hosted, ...unknownFields])
    if (isForeign) for (const name of nativeOnly) set.add(name)
    if (mark !== '') set.add(mark)
    unread = { list: [...set], set }
    lists.set(kind, unread)
  }
  return unread
}

/** References to reasoning that this target cannot follow: left out whatever the setting, since it could not read it. */
function listUnreadableReasoning(
  { storedReasoning }: Findings,
  format: ClientFormat,
  source: SourceBody,
): readonly string[] {
  return format.id === source.format ? [] : (storedReasoning ?? [])
}
