import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toArray, toObject, toObjects } from '../../../json/json-value.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { SourceBody } from '../../../request/source-body.ts'
import { toSteps } from '../../shared/field-path.ts'
import { spellCamel } from '../wire/spell-camel.ts'
import { fitContents } from './fit-contents.ts'

/**
 * The body of a caller of this format as it goes to a provider of the same one: what it wrote, in one spelling, but for
 * the cap that the gateway holds it to and for what must not be sent. `dropped` are paths such as `tools[0].googleSearch`.
 */
export function passRequest(
  { maxOutputTokens }: ChatRequest,
  { bytes }: SourceBody,
  model: string,
  dropped: readonly string[],
): JsonObject {
  const spelled = spellCamel(JSON.parse(bytes.toString('utf8')) as JsonObject)
  // Who writes a name twice was refused before.
  if ('doubled' in spelled) throw new Error(`${spelled.doubled} stands twice in a body that was checked`)
  const { body } = spelled
  for (const path of dropped) remove(body, toSteps(path))
  if (dropped.length > 0) removeEmptyTools(body)
  // It is in the path.
  delete body.model
  removeForbidden(body)
  fitContents(body, model)
  if (maxOutputTokens !== undefined) {
    body.generationConfig = { ...toObject(body.generationConfig), maxOutputTokens }
  }
  return body
}

function remove(value: Json | undefined, steps: readonly string[]): void {
  const [step, ...rest] = steps
  if (step === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return
  const container = value as JsonObject
  if (rest.length > 0) remove(container[step], rest)
  else delete container[step]
}

/** What may not be called is not declared: it would be input that was not counted. */
function removeForbidden(body: JsonObject): void {
  const calling = toObject(toObject(body.toolConfig)?.functionCallingConfig)
  const names = toArray(calling?.allowedFunctionNames)
  if (names.length === 0) return
  for (const tool of toObjects(body.tools)) {
    if (tool.functionDeclarations === undefined || tool.functionDeclarations === null) continue
    const declared = toObjects(tool.functionDeclarations)
    tool.functionDeclarations = declared.filter(({ name }) => names.includes(name ?? null))
  }
}

function removeEmptyTools(body: JsonObject): void {
  if (body.tools === undefined) return
  const tools = toArray(body.tools).filter(tool => Object.keys(toObject(tool) ?? {}).length > 0)
  if (tools.length > 0) body.tools = [...tools]
  else delete body.tools
}
