import { createHash } from 'node:crypto'
import type { FunctionTool } from '../../../request/tools.ts'
import { invalid } from '../../shared/reading/read-fields.ts'
import type { CalledTool, ToolKind } from '../../shared/requests/parsed-chat.ts'

/**
 * The most tools of a request whose tools get names of their own, each of which takes up to 10 us. OpenAI takes 128 functions beside each
 * other, and no other provider takes more than some thousand.
 */
export const MAX_NAMED_TOOLS = 2_048
/** No provider takes a longer name of a function. */
const MAX_NAME = 64
const DIGEST = 8
/** The longest that all descriptions of namespaces together may become: a short body must not become a long one. */
const MAX_REPEATED = 256 * 1024
const SEPARATOR = '__'
/** The namespace of tools whose names stand alone. */
const BARE = 'functions'

/**
 * The tools of one request as functions with one name each. A tool in a namespace is `namespace__name`. A name that other
 * formats refuse, or that another tool has, ends in a digest of both. `called` leads back from the function's name.
 */
export class ToolTable {
  readonly tools: FunctionTool[] = []
  /** By the name of a function that stands for another kind of tool, or for a tool in a namespace. */
  readonly called = new Map<string, CalledTool>()
  /** The function's name of each tool. Made with the first tool in a namespace: plain functions keep their names. */
  #names: Map<string, string> | undefined
  readonly #taken = new Set<string>()
  /** The place of each function by its name, once there are namespaces. */
  readonly #places = new Map<string, number>()
  /** Characters of descriptions of namespaces that were repeated. */
  #repeated = 0

  /** True if tools were merged, or made functions of one name. */
  get isFlattened(): boolean {
    return this.#names !== undefined
  }

  /** Adds a tool. A later tool of the same name and namespace replaces an earlier one. */
  add({ type, function: fn }: FunctionTool, kind: ToolKind | 'function', namespace?: string): void {
    const { name } = fn
    if (namespace === undefined && this.#names === undefined && kind !== 'tool_search') {
      this.tools.push({ type, function: fn })
      if (kind !== 'function') this.called.set(name, { kind, name })
      return
    }
    if (this.tools.length >= MAX_NAMED_TOOLS)
      throw invalid(
        'tools',
        `must have at most ${MAX_NAMED_TOOLS} tools where some are in a namespace or in the input.`,
      )
    const flat = this.nameOf(name, namespace, kind)
    const tool: FunctionTool = { type, function: { ...fn, name: flat } }
    const known = this.#places.get(flat)
    if (known !== undefined) this.tools[known] = tool
    else this.#places.set(flat, this.tools.push(tool) - 1)
    this.called.set(flat, namespace === undefined ? { kind, name } : { kind, name, namespace })
  }

  /** The function's name of a tool, also of one that only the conversation has. */
  nameOf(name: string, namespace: string | undefined, kind: ToolKind | 'function' = 'function'): string {
    const isBare = namespace === undefined || namespace === '' || namespace === BARE
    if (this.#names === undefined && isBare && kind !== 'tool_search') return name
    const names = this.#openNames()
    const key = JSON.stringify([kind === 'tool_search', isBare ? '' : namespace, name])
    const known = names.get(key)
    if (known !== undefined) return known
    const flat = this.#fit(isBare ? name : `${namespace}${SEPARATOR}${name}`, key)
    names.set(key, flat)
    this.#taken.add(flat)
    return flat
  }

  /** A tool's description with that of its namespace before it, which is repeated for a bounded number of tools. */
  describe(about: string, own: string): string {
    this.#repeated += about.length
    if (about === '' || this.#repeated > MAX_REPEATED) return own
    return own === '' ? about : `${about}\n\n${own}`
  }

  /** Lets tools that are added from here on replace known ones of the same name. */
  mergeLater(): void {
    this.#openNames()
  }

  #openNames(): Map<string, string> {
    if (this.#names !== undefined) return this.#names
    this.#names = new Map()
    for (const [at, { function: fn }] of this.tools.entries()) {
      this.#places.set(fn.name, at)
      this.#names.set(JSON.stringify([false, '', fn.name]), fn.name)
      this.#taken.add(fn.name)
    }
    return this.#names
  }

  #fit(wanted: string, key: string): string {
    const plain = wanted.slice(0, MAX_NAME).replace(/[^A-Za-z0-9_-]/g, '_')
    if (plain === wanted && !this.#taken.has(plain)) return plain
    const digest = createHash('sha256').update(key).digest('hex').slice(0, DIGEST)
    return `${plain.slice(0, MAX_NAME - DIGEST - 1)}_${digest}`
  }
}
