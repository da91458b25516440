import { decodeError } from '@rideau/llm/formats/shared/errors/decode-error'
import { expect, test } from 'vitest'
import { isRefusedReasoning } from './refused-reasoning.ts'

const openai = (message: string, code: string | null) =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } })

const UNVERIFIED = `The encrypted content ${'gAAAA'.padEnd(60, 'x')} could not be verified.`

test.each([
  ['OpenAI', openai(UNVERIFIED, 'invalid_encrypted_content')],
  ['Azure, without a code', openai(UNVERIFIED, null)],
  [
    'OpenAI, with the reason',
    openai(
      `${UNVERIFIED} [Reason: Encrypted content organization_id did not match the target organization.]`,
      null,
    ),
  ],
  [
    'xAI',
    JSON.stringify({
      code: 'invalid-argument',
      error:
        'Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.',
    }),
  ],
  [
    'xAI, which may call it a compaction',
    JSON.stringify({
      code: 'invalid-argument',
      error: 'Could not decode the compaction blob. Ensure it is unmodified from the compact response.',
    }),
  ],
])('knows the refusal of unreadable reasoning: %s', (_, body) => {
  const error = decodeError(400, {}, body)
  expect(error.kind).toBe('bad_request')
  expect(isRefusedReasoning(error)).toBe(true)
})

test.each([
  openai("Invalid type for 'input[1].encrypted_content': expected a string.", 'invalid_type'),
  openai('Your organization must be verified to generate reasoning summaries.', 'unsupported_value'),
  openai('The token could not be verified.', null),
])('takes no other refusal for it: %s', body => {
  expect(isRefusedReasoning(decodeError(400, {}, body))).toBe(false)
})
