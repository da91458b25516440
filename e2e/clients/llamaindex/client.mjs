import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = content => [{ role: 'user', content }]
const { name, description, run } = TOOL
const weather = { metadata: { name, description, parameters: SCHEMA }, call: run }

const llamaindex = {
  retries: true,
  ask: async (c, model, text) => (await c.llm(model).chat({ messages: user(text) })).message.content,
  async *stream(c, model, text) {
    for await (const { delta } of await c.llm(model).chat({ messages: user(text), stream: true })) yield delta
  },
  async tools(c, model) {
    const llm = c.llm(model)
    const messages = user('hi')
    const { message } = await llm.chat({ messages, tools: [weather] })
    messages.push(message)
    for (const { id, name: called, input } of message.options.toolCall) {
      const args = typeof input === 'string' ? JSON.parse(input) : input
      const toolResult = { id, result: weather.call(args), isError: false, name: called }
      messages.push({ role: 'user', content: toolResult.result, options: { toolResult } })
    }
    return (await llm.chat({ messages, tools: [weather] })).message.content
  },
  async json(c, model) {
    const json_schema = { name: 'place', strict: true, schema: SCHEMA }
    const responseFormat = { type: 'json_schema', json_schema }
    return JSON.parse((await c.llm(model).chat({ messages: user('hi'), responseFormat })).message.content)
  },
  see: (c, model, text) =>
    llamaindex.ask(c, model, [
      { type: 'text', text },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]),
  embed: (c, model, texts) => c.embedding(model).getTextEmbeddings(texts),
}

await playSteps(configure, llamaindex)
