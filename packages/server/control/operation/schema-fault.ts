import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { Fault } from '../../core/fault.ts'
import type { FaultCode } from '../../core/fault-table.ts'
import { z } from './zod.ts'

/** The part of a request that a schema validates, in Fastify's words. */
export type HttpPart = 'body' | 'querystring'

/** What a schema refused. */
export interface RefusedInput {
  readonly schema: z.ZodType
  readonly data: unknown
  readonly part: HttpPart
}

/** Converts a validation error to a fault: a field in another case than its own, or else the first issue. It never repeats what was sent. */
export function toSchemaFault(error: z.ZodError, { schema, data, part }: RefusedInput): Fault {
  const variant = part === 'body' ? findCaseVariant(error, schema, data) : undefined
  if (variant !== undefined) {
    const param = toParam(variant)
    const message = `${param}: must be written in the case of the documented field name.`
    return new Fault('request_validation_failed', message, { param })
  }
  const issue = error.issues[0]
  if (issue === undefined) return new Fault('invalid_request', 'The request is not valid.')
  if (issue.code === 'unrecognized_keys') {
    const param = toParam([...issue.path, issue.keys[0] ?? ''])
    return part === 'body'
      ? new Fault('invalid_request', 'Unknown field.', { param })
      : new Fault('request_validation_failed', 'Unknown query parameter.', { param })
  }
  const code = faultOf(issue) ?? (part === 'body' ? 'invalid_request' : 'request_validation_failed')
  if (issue.path.length === 0) return new Fault(code, 'The body must be a JSON object.')
  const param = toParam(issue.path)
  return new Fault(code, `${param}: ${issue.message}.`, { param })
}

/** Returns the code that the check itself names, where it has one. */
function faultOf(issue: z.core.$ZodIssue): FaultCode | undefined {
  return issue.code === 'custom' ? (issue.params?.fault as FaultCode | undefined) : undefined
}

/**
 * Returns the path of an unknown key that the schema knows in lower case: a laxer parser would take it for that field. Only the
 * first object with such keys is looked at, so that the data are validated once more at most.
 */
function findCaseVariant(error: z.ZodError, schema: z.ZodType, data: unknown): PropertyKey[] | undefined {
  for (const { path, keys } of listUnknownKeys(error)) {
    const others = keys.filter(key => key !== key.toLowerCase())
    if (others.length === 0) continue
    const lower = others.map(key => key.toLowerCase())
    const again = z.safeParse(schema, withKeys(data, path, lower)).error
    const issues = again === undefined ? [] : listUnknownKeys(again)
    const unknown = new Set(issues.find(issue => isSamePath(issue.path, path))?.keys)
    const variant = others.find((_, at) => !unknown.has(lower[at] ?? ''))
    return variant === undefined ? undefined : [...path, variant]
  }
  return undefined
}

function listUnknownKeys({ issues }: z.ZodError): z.core.$ZodIssueUnrecognizedKeys[] {
  return issues.filter(issue => issue.code === 'unrecognized_keys')
}

function isSamePath(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return one.length === other.length && one.every((step, at) => step === other[at])
}

/** A copy whose object at the path has the keys; what does not change is shared. */
function withKeys(data: unknown, [step, ...rest]: readonly PropertyKey[], keys: readonly string[]): unknown {
  if (typeof data !== 'object' || data === null) return data
  if (step === undefined) return { ...Object.fromEntries(keys.map(key => [key, null])), ...data }
  const inner = withKeys(Reflect.get(data, step), rest, keys)
  return Array.isArray(data) ? data.with(Number(step), inner) : { ...data, [step]: inner }
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
