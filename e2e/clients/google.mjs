// Google's client, in the versions whose folders name this file.
import { PIXEL, SCHEMA, TOOL } from './steps.mjs'

const { additionalProperties: _strict, ...parameters } = SCHEMA

export const google = {
  // Only where it is told to, by `retryOptions`.
  retries: false,
  ask: async ({ client }, model, contents) => (await client.models.generateContent({ model, contents })).text,
  async *stream({ client }, model, contents) {
    const chunks = await client.models.generateContentStream({ model, contents })
    for await (const { text } of chunks) yield text ?? ''
  },
  async tools({ client }, model) {
    const { name, description, run } = TOOL
    const declaration = { name, description, parametersJsonSchema: parameters }
    const chat = client.chats.create({ model, config: { tools: [{ functionDeclarations: [declaration] }] } })
    const { functionCalls } = await chat.sendMessage({ message: 'hi' })
    const parts = functionCalls.map(({ id, name: called, args }) => ({
      functionResponse: { id, name: called, response: { output: run(args) } },
    }))
    return (await chat.sendMessage({ message: parts })).text
  },
  async json({ client }, model) {
    const config = { responseMimeType: 'application/json', responseJsonSchema: parameters }
    return JSON.parse((await client.models.generateContent({ model, contents: 'hi', config })).text)
  },
  async reason({ client }, model) {
    const chat = client.chats.create({ model, config: { thinkingConfig: { includeThoughts: true } } })
    await chat.sendMessage({ message: 'hi' })
    return (await chat.sendMessage({ message: 'more' })).text
  },
  see: (c, model, text) =>
    google.ask(c, model, [{ text }, { inlineData: { mimeType: 'image/png', data: PIXEL } }]),
  async embed({ client }, model, contents) {
    return (await client.models.embedContent({ model, contents })).embeddings.map(({ values }) => values)
  },
  abort: ({ client }, model, contents, abortSignal) =>
    client.models.generateContent({ model, contents, config: { abortSignal } }),
}
