import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = content => [{ role: 'user', content }]
const textOf = ({ message }) => message.content.find(({ type }) => type === 'text').text

const cohere = {
  retries: true,
  // Up to a minute before each of its two retries.
  waits: true,
  ask: async ({ client }, model, text) => textOf(await client.chat({ model, messages: user(text) })),
  async *stream({ client }, model, text) {
    for await (const event of await client.chatStream({ model, messages: user(text) })) {
      if (event.type === 'content-delta') yield event.delta.message.content.text ?? ''
      // The client does not throw: the finish reason tells.
      if (event.type === 'message-end' && event.delta.finishReason === 'ERROR')
        throw new Error(event.delta.error)
    }
  },
  async tools({ client }, model) {
    const { name, description, run } = TOOL
    const tools = [{ type: 'function', function: { name, description, parameters: SCHEMA } }]
    const messages = user('hi')
    const { message } = await client.chat({ model, messages, tools })
    messages.push(message)
    for (const { id, function: fn } of message.toolCalls) {
      messages.push({ role: 'tool', toolCallId: id, content: run(JSON.parse(fn.arguments)) })
    }
    return textOf(await client.chat({ model, messages, tools }))
  },
  async json({ client }, model) {
    const responseFormat = { type: 'json_object', jsonSchema: SCHEMA }
    return JSON.parse(textOf(await client.chat({ model, messages: user('hi'), responseFormat })))
  },
  see: (c, model, text) =>
    cohere.ask(c, model, [
      { type: 'text', text },
      { type: 'image_url', imageUrl: { url: `data:image/png;base64,${PIXEL}` } },
    ]),
  async embed({ client }, model, texts) {
    const request = { model, texts, inputType: 'search_document', embeddingTypes: ['float'] }
    return (await client.embed(request)).embeddings.float
  },
  abort: ({ client }, model, text, abortSignal) =>
    client.chat({ model, messages: user(text) }, { abortSignal }),
}

await playSteps(configure, cohere)
