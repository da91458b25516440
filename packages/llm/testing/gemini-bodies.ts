import type { Json, JsonObject } from '../json/json-value.ts'
import { toObjects } from '../json/json-value.ts'

/**
 * Two bodies that mean the same made alike: turns of one role in a row are one, and what a model thought, or said
 * without a letter, is no part of it. The model's name is in the path; a schema stands under either name.
 */
export function normalizeContent({ model: _, ...body }: JsonObject): JsonObject {
  for (const tool of toObjects(body.tools)) {
    for (const declared of toObjects(tool.functionDeclarations)) {
      if (declared.parameters === undefined) continue
      declared.parametersJsonSchema = declared.parameters
      delete declared.parameters
    }
  }
  const contents: { role: Json; parts: JsonObject[] }[] = []
  for (const content of toObjects(body.contents)) {
    const role = content.role ?? 'user'
    const parts = toObjects(content.parts).filter(part => part.thought !== true && part.text !== '')
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  return { ...body, contents }
}
