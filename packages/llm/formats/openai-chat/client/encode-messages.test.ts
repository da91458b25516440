import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObjects } from '../../../json/json-value.ts'
import type { OpenAiDeviations } from '../../../provider/openai-deviations.ts'
import { custom } from '../../../providers/custom.ts'
import type { Message } from '../../../request/message.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { encodeRequest } from './encode-request.ts'

const toTarget = (openai: OpenAiDeviations): Target => ({
  provider: { ...custom, openai },
  model: 'their-model',
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'k',
})

test('an id that carries another format’s reasoning is sent without it, in call and result', () => {
  const id = packToolCallId('call_1', [
    { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'AAEC' },
  ])
  const fn = { name: 'f', arguments: '{}' }
  const messages: Message[] = [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: fn }] },
    { role: 'tool', tool_call_id: id, content: 'x' },
  ]
  const request = { model: 'openai/x', messages, stream: false, includeUsage: false }
  const { body } = encodeRequest(request, toTarget({}), undefined)
  expect(JSON.parse(body.toString()).messages).toEqual([
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: fn }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ])
})

describe('reasoning of an assistant’s message', () => {
  const CALL = { id: 'call_123456', type: 'function', function: { name: 'f', arguments: '{}' } } as const
  const turn = (fields: JsonObject): Message => ({ role: 'assistant', content: 'a', ...fields }) as Message
  /** The message as a provider with these deviations gets it. */
  const sent = (deviations: OpenAiDeviations, message: Message): JsonObject | undefined => {
    const request = { model: 'openai/x', messages: [message], stream: false, includeUsage: false }
    const source = toSourceBody('openai-chat', { model: 'x', messages: [message as unknown as JsonObject] })
    const { body } = encodeRequest(request, toTarget(deviations), source)
    return toObjects(JSON.parse(body.toString()).messages)[0]
  }

  test.each([
    ['reasoning', turn({ reasoning: 'why' })],
    ['reasoning_content', turn({ reasoning_content: 'why' })],
    ['both and details', turn({ reasoning: 'why', reasoning_content: 'why', reasoning_details: [] })],
  ])(
    'as %s: is sent under the provider’s name alone, and left out if the provider refuses it',
    (_, message) => {
      expect(sent({ reasoningField: 'reasoning_content' }, message)).toEqual(
        turn({ reasoning_content: 'why' }),
      )
      expect(sent({ reasoningField: 'reasoning' }, message)).toEqual(turn({ reasoning: 'why' }))
      expect(sent({ reasoningField: 'refused' }, message)).toEqual(turn({}))
      expect(sent({}, message)).toEqual(message)
    },
  )

  test('lost from a message with tool calls: the placeholder is sent to a provider that requires reasoning', () => {
    const insists = { reasoningField: 'reasoning_content', reasoningPlaceholder: ' ' } as const
    expect(sent(insists, turn({ tool_calls: [CALL] }))?.reasoning_content).toBe(' ')
    expect(sent(insists, turn({ tool_calls: [CALL], reasoning_content: '' }))?.reasoning_content).toBe(' ')
    expect(sent(insists, turn({ tool_calls: [CALL], reasoning: 'why' }))?.reasoning_content).toBe('why')
    expect(sent(insists, turn({}))).toEqual(turn({}))
  })

  test('is not looked for in a user’s message, which keeps fields of these names', () => {
    const message = { role: 'user', content: 'a', reasoning: 'x' } as Message
    expect(sent({ reasoningField: 'refused' }, message)).toEqual(message)
  })
})
