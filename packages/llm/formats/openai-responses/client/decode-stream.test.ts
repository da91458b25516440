import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { unpackToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { openStream } from './decode-stream.ts'

const TARGET = { provider: findProvider('openai'), model: 'gpt-5.5', baseUrl: '', apiKey: '' } as Target

function decode(...frames: readonly JsonObject[]): readonly StreamEvent[] {
  const decoder = openStream(TARGET)
  return frames.flatMap(frame => decoder.decode(JSON.stringify(frame)))
}

/** A reasoning item, and the call that it leads to. */
function toFrames(turn: number, summary: readonly string[]): JsonObject[] {
  const reasoning = {
    type: 'reasoning',
    id: `rs_${turn}`,
    summary: summary.map(text => ({ type: 'summary_text', text })),
    encrypted_content: `secret ${turn}`,
  }
  const call = {
    type: 'function_call',
    id: `fc_${turn}`,
    call_id: `call_${turn}`,
    name: 'f',
    arguments: '{}',
  }
  return [reasoning, call].map((item, at) => ({
    type: 'response.output_item.done',
    output_index: 2 * turn + at,
    item,
  }))
}

test('numbers the details of a stream, because OpenAI’s client for Python fails on a second one without an index', () => {
  const events = decode(...toFrames(0, ['Hm']), ...toFrames(1, []))
  const details = events.flatMap(event => (event.type === 'delta' ? (event.reasoningDetails ?? []) : []))
  const brief = ({ type, id, index }: ReasoningDetail): unknown[] => [type, id, index]
  expect(details.map(brief)).toEqual([
    ['reasoning.summary', 'rs_0', 0],
    ['reasoning.encrypted', 'rs_0', 1],
    ['reasoning.encrypted', 'rs_1', 2],
  ])
  const ids = events.flatMap(event =>
    event.type === 'delta' ? (event.toolCalls ?? []).map(({ id }) => id ?? '') : [],
  )
  const carried = ids.flatMap(id => unpackToolCallId(id).details)
  expect(carried.map(brief)).toEqual(details.map(({ type, id }) => [type, id, undefined]))
})
