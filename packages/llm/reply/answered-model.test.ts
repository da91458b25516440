import { describe, expect, test } from 'vitest'
import { findStreamedModel, readAnsweredModel } from './answered-model.ts'

describe('the model that a provider says has answered', () => {
  test.each([
    ['OpenAI', { model: 'gpt-4o-2024-08-06' }, 'gpt-4o-2024-08-06'],
    ['Gemini', { modelVersion: 'gemini-2.5-flash-001' }, 'gemini-2.5-flash-001'],
    [
      'the first event of Anthropic',
      { type: 'message_start', message: { model: 'claude-opus-5' } },
      'claude-opus-5',
    ],
    ['the first event of Responses', { response: { model: 'gpt-5.4' } }, 'gpt-5.4'],
    ['an ARN', { model: 'arn:aws:bedrock:eu-west-1:1:a/b-v1:0' }, 'arn:aws:bedrock:eu-west-1:1:a/b-v1:0'],
    ['the longest name', { model: 'm'.repeat(512) }, 'm'.repeat(512)],
  ])('is read from %s', (_, body, model) => {
    expect(readAnsweredModel(body)).toBe(model)
  })

  test.each([
    ['no name', {}],
    ['a longer name', { model: 'm'.repeat(513) }],
    ['an empty name', { model: '' }],
    ['a sentence', { model: 'what was asked' }],
    ['several lines', { model: 'a\nb' }],
    ['JSON in a text', { model: '{"a":1}' }],
    ['an object', { model: { a: 1 } }],
    ['a text for a message', { message: 'hi' }],
  ])('is unknown for %s', (_, body) => {
    expect(readAnsweredModel(body)).toBeUndefined()
  })

  test('is read from the first event of a stream that names it, and not from long ones or what is no JSON', () => {
    const named = { data: '{"model":"a"}' }
    const long = { data: JSON.stringify({ model: 'b', instructions: 'x'.repeat(65_536) }) }
    expect(findStreamedModel([{ data: '[DONE]' }, { data: '{' }, { data: '{}' }, long, named])).toBe('a')
    expect(findStreamedModel([long])).toBeUndefined()
  })
})
