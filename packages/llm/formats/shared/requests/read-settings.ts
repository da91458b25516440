import type { Json, JsonObject } from '../../../json/json-value.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { FREE } from '../../../upstream/reserved-lists.ts'
import { joinRest, MAX_DEPTH, toNestedNames, toPlainName } from '../../../upstream/reserved-names.ts'
import { joinPath } from '../reading/field-path.ts'
import { findCompaction } from './find-compaction.ts'
import { raisesWindow } from './long-context.ts'

/** Objects and lists in which no name is a setting: messages, tools, and what is free of reserved names too. */
const CONTENT: ReadonlySet<string> = new Set(
  [
    ...FREE,
    'messages',
    'input',
    'contents',
    'prompt',
    'system',
    'system_instruction',
    'instructions',
    'tools',
    'tool_config',
    'functions',
  ].map(toPlainName),
)

const MANAGEMENT = 'contextmanagement'
const BETAS: ReadonlySet<string> = new Set(['anthropicbeta', 'betas'])

/** What a body asks beside its content that lets more input be billed. */
export interface Settings {
  /** The path of the first field that asks for compaction; undefined: there is none. */
  readonly compaction: string | undefined
  /** A beta is asked for that raises the context window. */
  readonly raisesWindow: boolean
}

/**
 * Returns what a body's settings ask, at any depth and in every spelling: providers' options and unknown objects have them too, and forms
 * and proxies send objects as texts of JSON. Null means absent, and a number asks for nothing.
 */
export function readSettings(body: JsonObject): Settings {
  const reader = new SettingsReader()
  const compaction = reader.readFields(body, 1)
  return { compaction, raisesWindow: reader.raisesWindow }
}

/**
 * Its methods return the path of the first compaction. It is built on the way back from there, since a body may have a million values. They
 * read on after it, for betas. `depth`: of the values in an object or a list.
 */
class SettingsReader {
  raisesWindow = false
  readonly #texts = new JsonTexts()

  readFields(fields: JsonObject, depth: number): string | undefined {
    let found: string | undefined
    for (const name in fields) {
      const given = fields[name]
      if (typeof given === 'number' || given === null || given === undefined) continue
      if (!this.#texts.addName(name)) return this.#readAsAnything(found, name)
      const plain = toPlainName(name)
      if (CONTENT.has(plain)) continue
      const value = this.#readText(given, depth)
      const own = this.#readSetting(name, plain, value)
      const within = this.#readWithin(value, depth)
      const rest = own ?? within
      if (rest !== undefined) found ??= joinRest(joinPath('', name), rest)
      // There is nothing else to find.
      if (found !== undefined && this.raisesWindow) return found
    }
    return found
  }

  /** There are too many names. Those that are left may ask for anything. */
  #readAsAnything(found: string | undefined, name: string): string {
    this.raisesWindow = true
    return found ?? joinPath('', name)
  }

  #readWithin(value: Json | undefined, depth: number): string | undefined {
    if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return undefined
    if (!Array.isArray(value)) return this.readFields(value, depth + 1)
    let found: string | undefined
    for (let at = 0; at < value.length; at++) {
      const given = value[at]
      if (typeof given !== 'object' && typeof given !== 'string') continue
      const within = this.#readWithin(this.#readText(given, depth + 1), depth + 1)
      if (within !== undefined) found ??= joinRest(`[${at}]`, within)
    }
    return found
  }

  /** undefined: the JSON in a text is too long or too deep to be read. */
  #readText(given: Json, depth: number): Json | undefined {
    return typeof given === 'string' && depth < MAX_DEPTH ? this.#texts.read(given) : given
  }

  #readSetting(name: string, plain: string, value: Json | undefined): string | undefined {
    const own = this.#readNamed(plain, value)
    const nested = toNestedNames(name)
    if (nested === undefined) {
      // Any of them may ask for anything.
      this.raisesWindow = true
      return own ?? ''
    }
    if (nested.length === 0) return own
    const rests = nested.map(step => this.#readNamed(toPlainName(step), value))
    return own ?? rests.find(rest => rest !== undefined)
  }

  #readNamed(plain: string, value: Json | undefined): string | undefined {
    if (plain === MANAGEMENT) return findCompaction(value)
    if (BETAS.has(plain) && raisesWindow(value)) this.raisesWindow = true
    return undefined
  }
}
