import type { Target } from '@rideau/llm/upstream/target'
import { expect, test } from 'vitest'
import type { RequestContext } from '../request/request-context.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import { attemptWithToken } from './attempt-with-token.ts'

const TOKEN = 'an-access-token'
const deps = { accessTokens: { find: () => TOKEN } } as unknown as AttemptDeps

test.each([
  ['a-model', 'a-model'],
  [undefined, undefined],
  [`model-${TOKEN}`, undefined],
])(
  'takes the name of the model that answered, %s, only without the access token',
  async (model, expected) => {
    const answer = async (target: Target) =>
      ({ ok: true, status: 200, value: target.accessToken, model }) as const
    const result = await attemptWithToken({} as RequestContext, 'id', {} as Target, answer, deps)
    expect(result).toEqual({ ok: true, status: 200, value: TOKEN, model: expected })
  },
)
