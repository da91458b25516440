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
  const passed = dropped.length === 0 ? toTable(body) : without(body, toRemovals(dropped))
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

/** What to remove, by the steps of its path; undefined: the field itself. */
type Removals = Map<string, Removals | undefined>

function toRemovals(paths: readonly string[]): Removals {
  const root: Removals = new Map()
  for (const path of paths) {
    const steps = toSteps(path)
    const last = steps.pop()
    let at = root
    for (const step of steps) {
      const next: Removals = at.get(step) ?? new Map()
      at.set(step, next)
      at = next
    }
    if (last !== undefined && !at.has(last)) at.set(last, undefined)
  }
  return root
}

/** A copy without fields; what does not change is shared. Entries of lists are never removed. */
function without(object: JsonObject, removals: Removals): JsonObject {
  const copy: JsonObject = Object.create(null)
  for (const name in object) {
    const value = object[name] as Json
    const inner = removals.get(name)
    if (inner !== undefined) copy[name] = withoutInner(value, inner)
    else if (!removals.has(name)) copy[name] = value
  }
  return copy
}

function withoutInner(value: Json, removals: Removals): Json {
  if (Array.isArray(value)) {
    return value.map((item, at) => {
      const inner = removals.get(String(at))
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
