import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toJsonText, toObjects } from '../../../json/json-value.ts'

type Container = { [key: string]: Node } | Node[]
type Node = Json | Container

/** No tool's schema is deeper. */
const MAX_DEPTH = 64
/** What a step of a path takes besides its name, in bytes, if it makes an object of its own. */
const STEP_BYTES = 200

/**
 * Collects arguments that arrive in pieces, each with its path (`$.steps[0].text`) and its value. Pieces of the same path
 * are pieces of one text.
 */
export class PartialArguments {
  // Without a prototype, because a path can contain any name.
  readonly #root: { [key: string]: Node } = Object.create(null)
  /** About how many bytes the arguments take. */
  size = 0

  add(partialArgs: Json | undefined): void {
    for (const piece of toObjects(partialArgs)) {
      const path = typeof piece.jsonPath === 'string' ? parsePath(piece.jsonPath) : undefined
      const value = findValue(piece)
      if (path === undefined || path.length === 0 || value === undefined) continue
      this.#put(path, value)
      this.size += STEP_BYTES * path.length + String(piece.jsonPath).length
      if (typeof value === 'string') this.size += value.length
    }
  }

  toText(): string {
    return toJsonText(this.#root as JsonObject)
  }

  #put(path: readonly (string | number)[], value: Json): void {
    let at: Container = this.#root
    for (const [depth, step] of path.entries()) {
      const next = path[depth + 1]
      const known = findAt(at, step)
      if (next === undefined) {
        const isMore = typeof known === 'string' && typeof value === 'string'
        setAt(at, step, isMore ? known + value : value)
        return
      }
      const isFit =
        typeof known === 'object' && known !== null && Array.isArray(known) === (typeof next === 'number')
      const inner: Container = isFit
        ? (known as Container)
        : typeof next === 'number'
          ? []
          : Object.create(null)
      if (!isFit && !setAt(at, step, inner)) return
      at = inner
    }
  }
}

function findAt(container: Container, step: string | number): Node | undefined {
  return Array.isArray(container) ? container[Number(step)] : container[step]
}

/** Returns false if the step is not the next of its list: otherwise one piece could make a list of any length. */
function setAt(container: Container, step: string | number, value: Node): boolean {
  if (!Array.isArray(container)) container[step] = value
  else if (typeof step === 'number' && step <= container.length) container[step] = value
  else return false
  return true
}

function findValue(piece: JsonObject): Json | undefined {
  const { stringValue, numberValue, boolValue } = piece
  if (stringValue !== undefined) return stringValue
  if (numberValue !== undefined) return numberValue
  if (boolValue !== undefined) return boolValue
  return 'nullValue' in piece ? null : undefined
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/** undefined: the path has an unknown form. */
function parsePath(text: string): (string | number)[] | undefined {
  if (!text.startsWith('$')) return undefined
  const steps: (string | number)[] = []
  STEP.lastIndex = 1
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text)
    if (found === null || steps.length === MAX_DEPTH) return undefined
    const [, name, index, single, double] = found
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'))
  }
  return steps
}
