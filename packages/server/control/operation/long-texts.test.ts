import { describe, expect, test } from 'vitest'
import { operations } from '../operations.ts'
import { slugField } from './slug.ts'
import { z } from './zod.ts'

/** Returns the checks of every string in a schema, by its path. */
function* findStrings(schema: z.core.$ZodType, path: string): Generator<[string, z.core.$ZodCheck[]]> {
  const { def } = schema._zod
  if (def.type === 'string') yield [path, def.checks ?? []]
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
})
