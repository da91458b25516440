import type { RequestRecord } from '../core/records/request-record.ts'
import type { DemoModel } from './demo-models.ts'

type Bodies = Pick<RequestRecord, 'request_body' | 'response_body'>

const QUESTIONS = [
  'Which of our suppliers raised their prices this quarter?',
  'Write a friendly answer to a customer whose parcel is late.',
  'Fasse den Vertrag in drei Sätzen zusammen.',
  '¿Cuáles son los plazos de devolución?',
  'Explain this stack trace to somebody who is new to the project.',
] as const
const ANSWERS = [
  'Two of them: the one for packaging by 4 %, the one for courier services by 7 %. Both announced it in their letters of September.',
  'Hello Sam, your parcel left our warehouse on Tuesday and waits at the border. We have asked for it and write again tomorrow.',
  'Der Vertrag läuft zwei Jahre. Gekündigt wird drei Monate vor dem Ende. Gerichtsstand ist Berlin.',
  'Puede devolver el artículo en un plazo de 30 días, sin coste y sin dar un motivo.',
  'The list is empty, so `items[0]` is undefined, and reading `.price` of it fails. Check the length first.',
] as const
const HOSTILE =
  '<script>document.title="taken"</script><img src="https://evil.example/x.png" onerror="alert(1)">' +
  '<a href="javascript:alert(1)">free money</a>'
/** One transparent pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WEATHER_TOOL = {
  type: 'function',
  function: {
    name: 'find_weather',
    description: 'Returns the weather of a town.',
    parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  },
}

/** Returns the bodies that an environment with full capture stores: plain questions, tools, JSON, images, a huge and a hostile one. */
export function toBodies({ provider, model, endpoint }: DemoModel, index: number): Bodies {
  const name = `${provider}/${model}`
  if (endpoint === 'embeddings') {
    const input = QUESTIONS[index % QUESTIONS.length]
    return { request_body: JSON.stringify({ model: name, input }), response_body: null }
  }
  const turn = index % QUESTIONS.length
  const kind = index % 29
  if (kind === 7) {
    const request = { messages: [user('Is it raining in Bern?')], tools: [WEATHER_TOOL] }
    const call = { id: 'call_1', type: 'function' }
    const args = { name: 'find_weather', arguments: '{"town":"Bern"}' }
    return pair(name, request, { content: null, tool_calls: [{ ...call, function: args }] }, 'tool_calls')
  }
  if (kind === 13) {
    const schema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
    const format = { type: 'json_schema', json_schema: { name: 'invoice', schema } }
    return pair(
      name,
      { messages: [user('Invoice: 3 x 12.50')], response_format: format },
      { content: '{"total":37.5}' },
    )
  }
  if (kind === 17) {
    const parts = [
      { type: 'text', text: 'What is in this picture?' },
      { type: 'image_url', image_url: { url: PIXEL } },
    ]
    return pair(name, { messages: [{ role: 'user', content: parts }] }, { content: 'A single pixel.' })
  }
  if (kind === 19) return pair(name, { messages: [user(HOSTILE)] }, { content: HOSTILE })
  // Cut at the size that a record keeps, as a body of a megabyte is.
  if (index % 1_009 === 23)
    return pair(name, { messages: [user('All work and no play. '.repeat(3_000))] }, { content: 'Noted.' })
  return pair(
    name,
    { messages: [{ role: 'system', content: 'Answer briefly.' }, user(QUESTIONS[turn] ?? '')] },
    { content: ANSWERS[turn] ?? '' },
  )
}

function user(content: string): object {
  return { role: 'user', content }
}

function pair(model: string, request: object, message: object, finish = 'stop'): Bodies {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }]
  return {
    request_body: JSON.stringify({ model, ...request }),
    response_body: JSON.stringify({ object: 'chat.completion', model, choices }),
  }
}
