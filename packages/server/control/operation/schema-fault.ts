import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { Fault } from '../../core/fault.ts'
import type { z } from './zod.ts'

/** The part of a request that a schema validates, in Fastify's words. */
export type HttpPart = 'body' | 'querystring'

/** Converts the first issue of a validation error to a fault. It never repeats what was sent. */
export function toSchemaFault(error: z.ZodError, part: HttpPart): Fault {
  const issue = error.issues[0]
  if (issue === undefined) return new Fault('invalid_request', 'The request is not valid.')
  if (issue.code === 'unrecognized_keys') {
    const param = toParam([...issue.path, issue.keys[0] ?? ''])
    return part === 'body'
      ? new Fault('invalid_request', 'Unknown field.', { param })
      : new Fault('request_validation_failed', 'Unknown query parameter.', { param })
  }
  const code = part === 'body' ? 'invalid_request' : 'request_validation_failed'
  if (issue.path.length === 0) return new Fault(code, 'The body must be a JSON object.')
  const param = toParam(issue.path)
  return new Fault(code, `${param}: ${issue.message}.`, { param })
}

/** `restrictions.allowed_models[0]` */
function toParam(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += `${text === '' ? '' : '.'}${excerptName(String(step))}`
  }
  return text
}
