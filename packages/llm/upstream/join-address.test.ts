import { expect, test } from 'vitest'
import { joinAddress } from './join-address.ts'

const BASE = 'https://a.example/v1'

test.each(['..', '.', '../x', 'x/..', 'a/../b', '..%2Fx', 'x%2f..', '%2F..%2F'])(
  'refuses a path in which the model %s would lead elsewhere',
  model => {
    for (const path of [`/model/${model}/converse`, `/models/${model}`, `/models/${model}?alt=sse`]) {
      expect(() => joinAddress(BASE, path)).toThrow(expect.objectContaining({ path: 'model' }))
    }
  },
)

test.each(['gpt-4.1', '...', '..x', '.x', 'a..b', 'a/b.c', '..:online', 'x?a=/../b'])(
  'joins a path with the model %s',
  model => {
    const path = `/model/${model}/converse`
    expect(joinAddress(BASE, path)).toEqual({ origin: 'https://a.example', path: `/v1${path}` })
  },
)
