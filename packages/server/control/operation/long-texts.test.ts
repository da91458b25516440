import { measureMs } from '@rideau/llm/testing/measure-ms'
import { describe, expect, test } from 'vitest'
import { FederatedAuthBody } from '../federated-auth/federated-auth-body.ts'
import { NewKey } from '../keys/key-body.ts'
import { operations } from '../operations.ts'
import { jsonObjectField } from './json-object-field.ts'
import { slugField } from './slug.ts'
import { z } from './zod.ts'

/** Returns every string in a schema, with its path and its checks. */
function* findStrings(
  schema: z.core.$ZodType,
  path: string,
): Generator<[string, z.core.$ZodCheck[], z.core.$ZodType]> {
  const { def } = schema._zod
  if (def.type === 'string') yield [path, def.checks ?? [], schema]
  const children = Object.entries(def).flatMap(([name, value]) =>
    name === 'shape' ? Object.entries(value as object) : [value].flat().map(child => [name, child] as const),
  )
  for (const [name, child] of children) {
    if (child instanceof z.core.$ZodType) yield* findStrings(child, `${path}.${name}`)
  }
}

const strings = operations.flatMap(({ name, body, query }) =>
  [body ?? z.undefined(), query].flatMap(schema => [...findStrings(schema, name)]),
)

describe('a text that is too long', () => {
  test('is read by no later check of its field, since a body may have 10 MiB', () => {
    const isMaximum = (check: z.core.$ZodCheck) => check._zod.def.check === 'max_length'
    const bounded = strings.filter(([, checks]) => checks.some(isMaximum))
    expect(bounded.length).toBeGreaterThan(100)
    const misread = bounded.filter(([, checks]) => {
      const at = checks.findIndex(isMaximum)
      return at < checks.length - 1 && checks[at]?._zod.def.abort !== true
    })
    expect(misread.map(([path]) => path)).toEqual([])
  })

  test('is refused for its length alone', () => {
    // The pattern of a slug would exceed the stack.
    const { error } = slugField.safeParse('a-'.repeat(1_000_000))
    expect(error?.issues.map(({ code }) => code)).toEqual(['too_big'])
  })

  const MiB = 1024 * 1024

  test.each([
    ['letters that become two in lower case', '\u0130'.repeat(5 * MiB)],
    ['pairs', '\u{1f600}'.repeat(2.5 * MiB)],
    ['digits of a second', `2026-11-27T00:00:00.${'9'.repeat(10 * MiB)}Z`],
    ['labels', 'a-'.repeat(5 * MiB)],
    ['names of a host', `https://a@${'a.'.repeat(5 * MiB)}`],
    ['blanks', `${' '.repeat(10 * MiB)}a`],
  ])('is refused at once: %s', (_, text) => {
    const schemas = new Map(strings.map(([path, , schema]) => [schema, path]))
    const slow = [...schemas].filter(
      ([schema]) => measureMs(() => void z.safeParse(schema as z.ZodType, text)) > 40,
    )
    expect(slow.map(([, path]) => path)).toEqual([])
  })

  test('in an object of the caller is looked at no further', () => {
    const schema = jsonObjectField(4096, 'attributes_too_large')
    // The second check would refuse the NUL at its end.
    const value = { first: 'a', text: `${'\u00e9'.repeat(3.4 * MiB)}\0` }
    const { error } = schema.safeParse(value)
    expect(error?.issues).toHaveLength(1)
    expect(error?.issues).toMatchObject([{ code: 'custom', params: { fault: 'attributes_too_large' } }])
  })

  test('is cut where it would be the name of a scope, since the whole body becomes a digest', () => {
    const scopes = Array.from({ length: 100 }, () => 'ai.chat'.repeat(10_000))
    const body = NewKey.parse({ kind: 'secret', name: 'n', scopes })
    expect(JSON.stringify(body).length).toBeLessThan(8_000)
  })
})

test('claims that are too many are counted before they are checked', () => {
  const names = Array.from({ length: 4_900 }, (_, at) => `A${at}`)
  const body = { issuer: 'https://a.example', required_claims: Object.fromEntries(names.map(n => [n, null])) }
  let error: z.ZodError | undefined
  expect(measureMs(() => (error = FederatedAuthBody.safeParse(body).error))).toBeLessThan(16)
  expect(error?.issues).toMatchObject([{ path: ['required_claims'], message: 'must name at most 20 claims' }])
})
