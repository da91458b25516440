import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Target } from '../../../upstream/target.ts'
import { toSteps } from '../../shared/reading/field-path.ts'
import { fitContents } from './fit-contents.ts'

/**
 * The body of a caller of this format for a provider of the same one: what the caller wrote, in one spelling, with the cap
 * that the gateway holds it to, and without what must not be sent. `body` stays as it is, for the next attempt. `dropped`
 * holds paths such as `tools[0].googleSearch`.
 */
export function passRequest(
  body: JsonObject,
  { maxOutputTokens }: ChatRequest,
  target: Target,
  dropped: readonly string[],
): JsonObject {
  const passed = toTable(dropped.length === 0 ? body : without(body, toRemovals(dropped)))
  // The path names the model.
  delete passed.model
  if (dropped.length > 0) removeEmptyTools(passed)
  removeForbidden(passed)
  passed.contents = fitContents(toObjects(passed.contents), target)
  if (maxOutputTokens !== undefined) {
    passed.generationConfig = { ...toObject(passed.generationConfig), maxOutputTokens }
  }
  return passed
}

/** What to remove, by the steps of its path; without steps: the field itself. */
interface Removals {
  readonly steps: Map<string, Removals>
}

function toRemovals(paths: readonly string[]): Removals {
  const root: Removals = { steps: new Map() }
  for (const path of paths) {
    let at = root
    for (const step of toSteps(path)) {
      let next = at.steps.get(step)
      if (next === undefined) {
        next = { steps: new Map() }
        at.steps.set(step, next)
      }
      at = next
    }
  }
  return root
}

/** A copy without fields; what does not change is shared. Entries of lists are never removed. */
function without(object: JsonObject, { steps }: Removals): JsonObject {
  const copy = toTable({ ...object })
  for (const [name, inner] of steps) {
    const value = copy[name]
    if (value === undefined) continue
    if (inner.steps.size === 0) delete copy[name]
    else copy[name] = withoutInner(value, inner)
  }
  return copy
}

function withoutInner(value: Json, removals: Removals): Json {
  if (Array.isArray(value)) {
    return value.map((item, at) => {
      const inner = removals.steps.get(String(at))
      return inner === undefined ? item : withoutInner(item, inner)
    })
  }
  const object = toObject(value)
  return object === undefined ? value : without(object, removals)
}

function removeEmptyTools(body: JsonObject): void {
  const tools = toArray(body.tools).filter(tool => Object.keys(toObject(tool) ?? {}).length > 0)
  if (tools.length > 0) body.tools = tools
  else delete body.tools
}

/** A function that may not be called is not declared: it would be input that was not counted. */
function removeForbidden(body: JsonObject): void {
  const calling = toObject(toObject(body.toolConfig)?.functionCallingConfig)
  const names = new Set(toArray(calling?.allowedFunctionNames))
  if (names.size === 0 || !Array.isArray(body.tools)) return
  body.tools = body.tools.map(value => {
    const tool = toObject(value)
    const declared = tool?.functionDeclarations
    if (declared === undefined || declared === null) return value
    return {
      ...tool,
      functionDeclarations: toObjects(declared).filter(({ name }) => names.has(name ?? null)),
    }
  })
}
