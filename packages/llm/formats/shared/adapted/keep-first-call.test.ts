import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { Target } from '../../../upstream/target.ts'
import { geminiContent } from '../../gemini-content/client/client.ts'
import { keepFirstCall } from './keep-first-call.ts'

const provider = findProvider('gemini')
if (provider === undefined) throw new Error('no provider')
const target: Target = { provider, model: 'gemini-2.5-flash', baseUrl: 'https://a.example/v1', apiKey: 'k' }
const format = keepFirstCall(geminiContent)
const call = (name: string): JsonObject => ({ functionCall: { id: name, name, args: {} } })
const chunk = (...parts: JsonObject[]): JsonObject => ({ candidates: [{ content: { parts } }] })

describe('an answer with several calls', () => {
  test('has the first call only', () => {
    const body = chunk({ text: 'a' }, call('f'), call('g'))
    const [choice] = format.decodeReply(body, target).choices
    expect(choice?.message.tool_calls?.map(each => each.function.name)).toEqual(['f'])
    expect(choice?.message.content).toBe('a')
  })

  test('has the first call only in its stream, and the reason to stop', () => {
    const decoder = format.openStream(target)
    const chunks = [
      chunk(call('f')),
      chunk(call('g')),
      { candidates: [{ content: { parts: [call('h')] }, finishReason: 'STOP' }] },
    ]
    const events = chunks.flatMap(each => decoder.decode(JSON.stringify(each)))
    const names = events.flatMap(event => (event.type === 'delta' ? (event.toolCalls ?? []) : []))
    expect(names.map(each => each.function?.name)).toEqual(['f'])
    expect(events.at(-1)).toMatchObject({ type: 'delta', finishReason: 'tool_calls' })
    expect(events).toHaveLength(2)
  })

  test('passes on what has one call or none', () => {
    expect(format.decodeReply(chunk(call('f')), target)).toEqual(
      geminiContent.decodeReply(chunk(call('f')), target),
    )
    const decoder = format.openStream(target)
    expect(decoder.decode(JSON.stringify(chunk({ text: 'a' })))).toEqual([
      { type: 'delta', index: 0, content: 'a' },
    ])
  })
})
