import { expect, test } from 'vitest'
import { decodeException } from './decode-error.ts'

test.each([
  ['internalServerException', 'Input is too long for requested model.', 'unavailable', 500],
  ['internalServerException', 'The system is overloaded.', 'unavailable', 500],
  ['serviceUnavailableException', 'prompt is too long', 'overloaded', 503],
  ['modelStreamErrorException', 'broke', 'unavailable', 500],
  ['throttlingException', 'Too many tokens', 'rate_limited', 429],
  ['validationException', 'Input is too long for requested model.', 'context_length', undefined],
  ['validationException', 'no', 'bad_request', undefined],
])('an exception of the name %s in a stream: %s', (name, message, kind, status) => {
  const error = decodeException(name, JSON.stringify({ message }))
  expect([error.kind, error.status]).toEqual([kind, status])
})
