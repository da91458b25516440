import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = content => [{ role: 'user', content }]
const ask = async ({ client }, request, options) =>
  (await client.chat.complete(request, options)).choices[0].message

await playSteps(configure, {
  // Only where it is told to, by `retryConfig`.
  retries: false,
  ask: async (c, model, text) => (await ask(c, { model, messages: user(text) })).content,
  async *stream({ client }, model, text) {
    const events = await client.chat.stream({ model, messages: user(text) })
    for await (const { data } of events) yield data.choices[0]?.delta.content ?? ''
  },
  async tools(c, model) {
    const { name, description, run } = TOOL
    const tools = [{ type: 'function', function: { name, description, parameters: SCHEMA } }]
    const messages = user('hi')
    const called = await ask(c, { model, messages, tools })
    messages.push(called)
    for (const { id, function: fn } of called.toolCalls) {
      const content = run(typeof fn.arguments === 'string' ? JSON.parse(fn.arguments) : fn.arguments)
      messages.push({ role: 'tool', toolCallId: id, name, content })
    }
    return (await ask(c, { model, messages, tools })).content
  },
  async json(c, model) {
    const jsonSchema = { name: 'place', strict: true, schemaDefinition: SCHEMA }
    const responseFormat = { type: 'json_schema', jsonSchema }
    return JSON.parse((await ask(c, { model, messages: user('hi'), responseFormat })).content)
  },
  see: async (c, model, text) => {
    const image = { type: 'image_url', imageUrl: `data:image/png;base64,${PIXEL}` }
    return (await ask(c, { model, messages: user([{ type: 'text', text }, image]) })).content
  },
  embed: async ({ client }, model, inputs) =>
    (await client.embeddings.create({ model, inputs })).data.map(({ embedding }) => embedding),
  abort: (c, model, text, signal) => ask(c, { model, messages: user(text) }, { fetchOptions: { signal } }),
})
