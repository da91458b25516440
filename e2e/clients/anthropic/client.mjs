import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = content => [{ role: 'user', content }]
const max_tokens = 2000
const textOf = ({ content }) => content.find(({ type }) => type === 'text').text

const anthropic = {
  retries: true,
  ask: async ({ client }, model, text) =>
    textOf(await client.messages.create({ model, max_tokens, messages: user(text) })),
  async *stream({ client }, model, text) {
    const events = client.messages.stream({ model, max_tokens, messages: user(text) })
    for await (const { type, delta } of events) if (type === 'content_block_delta') yield delta.text
  },
  async tools({ client }, model) {
    const { name, description, run } = TOOL
    const tool = { type: 'custom', name, description, input_schema: SCHEMA, run, parse: input => input }
    return textOf(
      await client.beta.messages.toolRunner({ model, max_tokens, messages: user('hi'), tools: [tool] }),
    )
  },
  async json({ client }, model) {
    const output_config = { format: { type: 'json_schema', schema: SCHEMA } }
    return JSON.parse(
      textOf(await client.messages.create({ model, max_tokens, messages: user('hi'), output_config })),
    )
  },
  async reason({ client }, model) {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const ask = messages => client.messages.create({ model, max_tokens, messages, thinking })
    const { content } = await ask(user('hi'))
    return textOf(await ask([...user('hi'), { role: 'assistant', content }, ...user('more')]))
  },
  see: (c, model, text) =>
    anthropic.ask(c, model, [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
      { type: 'text', text },
    ]),
  abort: ({ client }, model, text, signal) =>
    client.messages.create({ model, max_tokens, messages: user(text) }, { signal }),
}

await playSteps(configure, anthropic)
