import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = content => [{ role: 'user', content }]
const ask = async ({ client }, request) => (await client.chat(request)).message

await playSteps(configure, {
  retries: false,
  ask: async (c, model, text) => (await ask(c, { model, messages: user(text) })).content,
  async *stream({ client }, model, text) {
    for await (const { message } of await client.chat({ model, messages: user(text), stream: true })) {
      yield message.content
    }
  },
  async tools(c, model) {
    const { name, description, run } = TOOL
    const tools = [{ type: 'function', function: { name, description, parameters: SCHEMA } }]
    const messages = user('hi')
    const called = await ask(c, { model, messages, tools })
    messages.push(called)
    for (const call of called.tool_calls) {
      messages.push({ role: 'tool', tool_name: call.function.name, content: run(call.function.arguments) })
    }
    return (await ask(c, { model, messages, tools })).content
  },
  json: async (c, model) =>
    JSON.parse((await ask(c, { model, messages: user('hi'), format: SCHEMA })).content),
  see: async (c, model, text) =>
    (await ask(c, { model, messages: [{ role: 'user', content: text, images: [PIXEL] }] })).content,
  embed: async ({ client }, model, input) => (await client.embed({ model, input })).embeddings,
  abort(c, _model, text) {
    // It aborts all its streams at once, from their first byte on.
    return (async () => {
      const chunks = await c.client.chat({
        model: 'sandbox/echo',
        messages: user(text.repeat(20_000)),
        stream: true,
      })
      for await (const _chunk of chunks) c.client.abort()
    })()
  },
})
