import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { addUp } from '../../../testing/add-up.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { JSON_TOOL } from './json-tool.ts'

const answer = (input: JsonObject): JsonObject => ({
  toolUse: { toolUseId: 't', name: JSON_TOOL, input },
})
const BLOCKS = [{ text: 'Here it is: ' }, answer({ a: 1 }), answer({ a: 2 }), answer({}), { text: 'Done.' }]

test('the first answer is the whole content of a plain reply, whatever the model says besides', () => {
  const reply = decodeReply({ output: { message: { content: BLOCKS } }, stopReason: 'tool_use' })
  expect(reply.choices).toMatchObject([{ message: { content: '{"a":1}' }, finishReason: 'stop' }])
})

test('nothing follows the first answer in a stream', () => {
  const decoder = openStream()
  const send = (name: string, body: JsonObject) => decoder.decode(JSON.stringify(body), name)
  const events = BLOCKS.flatMap((block: JsonObject, contentBlockIndex) => {
    const use = block.toolUse as JsonObject | undefined
    if (use === undefined) return send('contentBlockDelta', { contentBlockIndex, delta: block })
    const { input, ...toolUse } = use
    const text = JSON.stringify(input)
    return [
      ...send('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
      ...(text === '{}'
        ? []
        : send('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: text } } })),
      ...send('contentBlockStop', { contentBlockIndex }),
    ]
  })
  expect(addUp(events).content).toBe('Here it is: {"a":1}')
})
