import { defineOperation, type Operation } from './operation.ts'
import type { ResourceKind, Resources } from './resources.ts'
import type { z } from './zod.ts'

interface GetDefinition<Kind extends ResourceKind, Schema extends z.ZodType> {
  readonly name: string
  readonly summary: string
  readonly response: Schema
  readonly toResponse: (row: Resources[Kind]) => z.output<Schema>
}

/** Returns the operation that shows the resource of the path as it is stored, to whoever may see its organization. */
export function defineGet<Kind extends ResourceKind, Schema extends z.ZodType>(
  kind: Kind,
  path: string,
  { name, summary, response, toResponse }: GetDefinition<Kind, Schema>,
): Operation {
  return defineOperation(`GET ${path}`, {
    name,
    summary,
    access: { role: 'viewer', of: kind as ResourceKind },
    response: { 200: response as z.ZodType },
    handle: async ({ resource }) => toResponse(resource as Resources[Kind]),
  })
}
