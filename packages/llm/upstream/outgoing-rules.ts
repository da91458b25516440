import { isObject, type Json, type JsonObject } from '../json/json-value.ts'
import { UnwrittenBase64 } from '../json/unwritten-base64.ts'
import { JsonTexts } from './json-texts.ts'
import { isAddressName, isSendableAddress, isSendableMedia, type MediaAddresses } from './media-addresses.ts'
import { findReservedField, toPlainName } from './reserved-names.ts'
import { findReference, findStoredContent, findStoredState } from './stored-state.ts'

/**
 * Who sends a body. `key`: a server. `end_user`: a client token. `trusted_end_user`: a client token of an environment that
 * sets `allow_client_passthrough`.
 */
export type Sender = 'key' | 'trusted_end_user' | 'end_user'

/** What was authorized, priced and reserved for one attempt. A body may ask for nothing else. */
export interface Grant {
  readonly sender: Sender
  /** The model's name as the provider knows it. */
  readonly model: string
  readonly isStream: boolean
  /** Answers, or images, that are paid for. */
  readonly choices: number
  /** undefined: the output is bounded by the model alone. */
  readonly maxOutputTokens: number | undefined
  /** What the model gives at most where no cap is sent; undefined: unknown. */
  readonly modelMaxOutput?: number | undefined
  /** Types of tools that the provider may run: their price is known and reserved. Absent: none. */
  readonly hostedTools?: ReadonlySet<string> | undefined
  /** What the provider may be asked to fetch. */
  readonly addresses: MediaAddresses
  /** The provider shows texts of messages to its model as they are. Absent: it may read stored files in their place. */
  readonly hasPlainTexts?: boolean | undefined
}

/** What may stand in one place of a body. */
export interface Rule {
  /**
   * Returns undefined for a value that may be sent. For others: the rest of the path to the first part that may not, such
   * as `.a[0]`, or an empty text for the value itself. Null never comes here: it means absent.
   */
  readonly check: (value: Json, grant: Grant) => string | undefined
  /** The rules of an object's fields. */
  readonly fields?: FieldRules
  /** An end user may not send it, whatever its value. */
  readonly isForKeys?: true
}

/** Fields that the rules do not know. No client token may send them; `grant.sender` decides for the others. */
export type UnknownFields =
  /** A key may send them, unless they have a reserved name at any depth. */
  | 'reserved'
  /** A key may send them: it is content, in which no name has a meaning for price or authorization. */
  | 'free'
  /** No caller may send them: it could be a tool that the provider runs. */
  | 'refused'

/** The rules of an object's fields, by their exact names. */
export class FieldRules {
  readonly #rules: ReadonlyMap<string, Rule>
  /** Names as toPlainName spells them: other spellings of a known field are refused. */
  readonly #plain: ReadonlySet<string>
  readonly #unknown: UnknownFields

  constructor(rules: Iterable<readonly [string, Rule]>, unknown: UnknownFields) {
    this.#rules = new Map(rules)
    for (const [name, rule] of this.#rules) {
      if (isAddressName(name) && (rule === SCALAR || rule === DATA)) {
        throw new Error(`${name}: a field that holds an address needs a rule that checks it, such as ADDRESS`)
      }
    }
    this.#plain = new Set([...this.#rules.keys()].map(toPlainName))
    this.#unknown = unknown
  }

  get names(): readonly string[] {
    return [...this.#rules.keys()]
  }

  find(name: string): Rule | undefined {
    return this.#rules.get(name)
  }

  /** Returns the path, from this object, of the first field that may not be sent; undefined: all may. */
  check(object: JsonObject, grant: Grant): string | undefined {
    for (const name in object) {
      const found = this.checkField(name, object[name], grant)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Checks one field like `check`. */
  checkField(name: string, value: Json | undefined, grant: Grant): string | undefined {
    if (value === undefined) return undefined
    const rule = this.#rules.get(name)
    if (rule === undefined) return this.#checkUnknown(name, value, grant)
    if (value === null) return undefined
    const rest = rule.check(value, grant)
    return rest === undefined ? undefined : name + rest
  }

  #checkUnknown(name: string, value: Json, grant: Grant): string | undefined {
    const { sender } = grant
    if (sender === 'end_user' || this.#unknown === 'refused' || this.isOtherSpelling(name)) return name
    if (value === null) return undefined
    if (this.#unknown === 'free') {
      return sender === 'key'
        ? undefined
        : findStoredContent(name, value, grant.addresses, toTexts(grant).stored)
    }
    return findInSetting(name, value, grant)
  }

  /** A parser that ignores case or separators would take the name for a known one. */
  isOtherSpelling(name: string): boolean {
    return this.#plain.has(toPlainName(name))
  }
}

/** All parts of a body share one bound. The grant stands for the body, which only few bodies need. */
const TEXTS = new WeakMap<Grant, SearchedTexts>()

/** Of each search, which has the whole bound for itself. */
interface SearchedTexts {
  readonly reserved: JsonTexts
  readonly stored: JsonTexts
}

function toTexts(grant: Grant): SearchedTexts {
  let texts = TEXTS.get(grant)
  if (texts === undefined) {
    texts = { reserved: new JsonTexts(), stored: new JsonTexts() }
    TEXTS.set(grant, texts)
  }
  return texts
}

/** The gateway encodes bytes as base64 itself, so that they are no address and name nothing. */
function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value instanceof UnwrittenBase64
}

/** An object where none is expected: its meaning is unknown, so its names decide. */
function checkUnread(value: Json, grant: Grant): string | undefined {
  if (isScalar(value)) return undefined
  return grant.sender === 'end_user' ? '' : findInSetting('', value, grant)
}

function findInSetting(name: string, value: Json, grant: Grant): string | undefined {
  const { reserved, stored } = toTexts(grant)
  const found = findReservedField(name, value, reserved)
  return found ?? (grant.sender === 'key' ? undefined : findStoredState(name, value, stored, grant.addresses))
}

/** A text, a number, a flag, or a list of such: it changes neither price nor what is authorized. */
export const SCALAR: Rule = {
  check: (value, grant) =>
    Array.isArray(value) && value.every(isScalar) ? undefined : checkUnread(value, grant),
}

/** One text, number or flag, where a list would ask for several. */
export const SINGLE: Rule = {
  check: (value, grant) => (Array.isArray(value) ? '' : checkUnread(value, grant)),
}

function toMediaRule(isSendable: (text: string, allowed: MediaAddresses) => boolean): Rule {
  return {
    check: (value, grant) => {
      const texts = Array.isArray(value) ? value : [value]
      const isSent = texts.every(text => typeof text !== 'string' || isSendable(text, grant.addresses))
      return isSent ? SCALAR.check(value, grant) : ''
    },
  }
}

/** The address of an image, a file or the like, which its provider fetches. */
export const ADDRESS: Rule = toMediaRule(isSendableAddress)

/** An image, a file or the like in base64. Some providers take an address in its place. */
export const MEDIA: Rule = toMediaRule(isSendableMedia)

/** The caller's own data, such as a schema or arguments of a tool: a provider gives no name in it a meaning. */
export const DATA: Rule = { check: () => undefined }

/** Names and values that a provider keeps with the request. Proxies read lists and objects among them as settings of their own. */
export const METADATA: Rule = {
  check: (value, { sender }) => (sender !== 'end_user' || isRecord(value) ? undefined : ''),
}

function isRecord(value: Json): boolean {
  return isObject(value) && Object.values(value).every(isText)
}

function isText(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null
}

/**
 * Citations, annotations and the like, which a provider wrote beside an answer and clients send back. A client token may name no stored file
 * in them; all else is shown to the model or means nothing.
 */
export const ECHO: Rule = {
  check: (value, grant) => (grant.sender === 'key' ? undefined : findReference(value, toTexts(grant).stored)),
}

/** Content of a kind that the gateway does not know. */
export const UNREAD_CONTENT: Rule = {
  check: (value, grant) => {
    const { sender, addresses } = grant
    if (sender === 'key') return undefined
    return sender === 'end_user' ? '' : findStoredContent('', value, addresses, toTexts(grant).stored)
  },
}

/** No caller may set it. */
export const REFUSED: Rule = { check: () => '' }

/** Who said something. Some providers give further names a meaning, such as `cache` for what they keep. */
export function toRoleRule(roles: readonly string[]): Rule {
  return forEndUsers(toUsualRule(roles))
}

/** Builds on what the provider stores. An end user could reach what others stored there. */
export const STORED: Rule = { check: (_, { sender }) => (sender === 'key' ? undefined : '') }

/** The rule of the field that asks the provider to keep the answer. */
export const STORE: Rule = {
  check: (value, grant) => (value === false ? undefined : STORED.check(value, grant)),
}

/** The authorized model and no other. */
export const MODEL: Rule = { check: (value, { model }) => (value === model ? undefined : '') }

/** The rule of the field that asks for a stream. */
export const STREAM: Rule = { check: (value, { isStream }) => (value === isStream ? undefined : '') }

/** How many answers are made. */
export const CHOICES: Rule = {
  check: (value, { choices }) => (isCount(value) && value <= choices ? undefined : ''),
}

/** The most output tokens. `least`: what the provider demands at least, where the cap is lower. */
export function toCapRule(least = 1): Rule {
  return {
    check: (value, { maxOutputTokens = Number.POSITIVE_INFINITY }) =>
      isCount(value) && value >= 1 && value <= Math.max(maxOutputTokens, least) ? undefined : '',
  }
}

export const CAP = toCapRule()

/** The most tokens of a part of the output, such as reasoning. Zero asks for none of it. */
export const SHARE_OF_CAP: Rule = {
  check: (value, grant) => (value === 0 ? undefined : CAP.check(value, grant)),
}

/** A budget that a model may spend beyond its cap: where no cap is sent, the model's maximum is what was reserved. */
export const BUDGET: Rule = {
  check: (value, grant) =>
    SHARE_OF_CAP.check(value, { ...grant, maxOutputTokens: grant.maxOutputTokens ?? grant.modelMaxOutput }),
}

function isCount(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Only these values: others have a price that the catalogue does not know, or another meaning. */
export function toUsualRule(values: readonly Json[]): Rule {
  const usual: ReadonlySet<Json> = new Set(values)
  return { check: value => (usual.has(value) ? undefined : '') }
}

/** A rule for what only servers have a use for. End users may not send it. */
export function forKeys(rule: Rule): Rule {
  const { check } = rule
  return {
    ...rule,
    check: (value, grant) => (grant.sender === 'end_user' ? '' : check(value, grant)),
    isForKeys: true,
  }
}

/** A rule for content: a key may send any. */
export function forEndUsers(rule: Rule): Rule {
  const { check } = rule
  return { ...rule, check: (value, grant) => (grant.sender === 'key' ? undefined : check(value, grant)) }
}

/** A tool that the provider runs: only where its type was granted. */
export function toHostedRule(type: string, { check }: Rule): Rule {
  return { check: (value, grant) => (grant.hostedTools?.has(type) === true ? check(value, grant) : '') }
}

/** An object with these fields. */
export function toObjectRule(rules: Readonly<Record<string, Rule>>, unknown: UnknownFields = 'free'): Rule {
  return toFieldsRule(new FieldRules(Object.entries(rules), unknown))
}

export function toFieldsRule(fields: FieldRules): Rule {
  return {
    fields,
    check: (value, grant) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
      const found = fields.check(value, grant)
      return found === undefined ? undefined : `.${found}`
    },
  }
}

/** A list whose entries keep to a rule. Null is refused among them. */
export function toListRule({ check }: Rule): Rule {
  return {
    check: (value, grant) => {
      if (!Array.isArray(value)) return ''
      for (let at = 0; at < value.length; at++) {
        const entry = value[at] as Json
        const rest = entry === null ? '' : check(entry, grant)
        if (rest !== undefined) return `[${at}]${rest}`
      }
      return undefined
    },
  }
}

/** A text, or what keeps to the rule. `ofText`: the rule of the text. */
export function toTextOrRule({ check }: Rule, ofText = DATA): Rule {
  return {
    check: (value, grant) => (typeof value === 'string' ? ofText.check(value, grant) : check(value, grant)),
  }
}

/**
 * An object whose `type` decides its rule. `absent`: the type of an object without one. `other`: of an unknown type; it is
 * given the whole object.
 */
export function toTypedRule(kinds: Readonly<Record<string, Rule>>, other: Rule, absent?: string): Rule {
  const byType: ReadonlyMap<Json, Rule> = new Map(Object.entries(kinds))
  return {
    check: (value, grant) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
      const type = value.type ?? absent
      const kind = type === undefined ? undefined : byType.get(type)
      return (kind ?? other).check(value, grant)
    },
  }
}
