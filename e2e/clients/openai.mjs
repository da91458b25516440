// The official client of OpenAI, in the versions whose folders name this file.
import { PIXEL, SCHEMA, TOOL } from './steps.mjs'

const user = content => [{ role: 'user', content }]

export const openai = {
  retries: true,
  async ask({ client }, model, text) {
    const { choices } = await client.chat.completions.create({ model, messages: user(text) })
    return choices[0].message.content
  },
  async *stream({ client }, model, text) {
    const chunks = await client.chat.completions.create({ model, messages: user(text), stream: true })
    for await (const { choices } of chunks) yield choices[0]?.delta.content ?? ''
  },
  async tools({ client }, model) {
    // Version 4 has the runner under `beta`.
    const completions =
      client.chat.completions.runTools === undefined ? client.beta.chat.completions : client.chat.completions
    const { name, description, run } = TOOL
    const fn = { name, description, parameters: SCHEMA, parse: JSON.parse, function: run }
    const runner = completions.runTools({
      model,
      messages: user('hi'),
      tools: [{ type: 'function', function: fn }],
    })
    return runner.finalContent()
  },
  async json({ client }, model) {
    const json_schema = { name: 'place', strict: true, schema: SCHEMA }
    const response_format = { type: 'json_schema', json_schema }
    const { choices } = await client.chat.completions.create({ model, messages: user('hi'), response_format })
    return JSON.parse(choices[0].message.content)
  },
  async reason({ client }, model) {
    const ask = input =>
      client.responses.create({
        model,
        input,
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'low' },
      })
    const first = await ask(user('hi'))
    return (await ask([...user('hi'), ...first.output, ...user('more')])).output_text
  },
  async see(c, model, text) {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }
    return openai.ask(c, model, [{ type: 'text', text }, image])
  },
  async draw({ client }, model) {
    return (await client.images.generate({ model, prompt: 'a fox' })).data[0].b64_json
  },
  async embed({ client }, model, input) {
    return (await client.embeddings.create({ model, input })).data.map(({ embedding }) => embedding)
  },
  abort: ({ client }, model, text, signal) =>
    client.chat.completions.create({ model, messages: user(text) }, { signal }),
}
