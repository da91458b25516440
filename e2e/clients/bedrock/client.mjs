import { ConverseCommand, ConverseStreamCommand, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime'
import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const user = text => ({ role: 'user', content: [{ text }] })
const ask = async ({ client }, modelId, request) =>
  (await client.send(new ConverseCommand({ modelId, ...request }))).output.message
const textOf = ({ content }) => content.find(({ text }) => text !== undefined).text

await playSteps(configure, {
  retries: true,
  ask: async (c, model, text) => textOf(await ask(c, model, { messages: [user(text)] })),
  async *stream({ client }, modelId, text) {
    const { stream } = await client.send(new ConverseStreamCommand({ modelId, messages: [user(text)] }))
    for await (const { contentBlockDelta } of stream) yield contentBlockDelta?.delta?.text ?? ''
  },
  async tools(c, model) {
    const { name, description, run } = TOOL
    const toolConfig = { tools: [{ toolSpec: { name, description, inputSchema: { json: SCHEMA } } }] }
    const called = await ask(c, model, { messages: [user('hi')], toolConfig })
    const results = called.content
      .filter(({ toolUse }) => toolUse !== undefined)
      .map(({ toolUse: { toolUseId, input } }) => ({
        toolResult: { toolUseId, content: [{ text: run(input) }] },
      }))
    const messages = [user('hi'), called, { role: 'user', content: results }]
    return textOf(await ask(c, model, { messages, toolConfig }))
  },
  async json(c, model) {
    const jsonSchema = { name: 'place', schema: JSON.stringify(SCHEMA) }
    const outputConfig = { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
    return JSON.parse(textOf(await ask(c, model, { messages: [user('hi')], outputConfig })))
  },
  async reason(c, model) {
    const first = await ask(c, model, { messages: [user('hi')] })
    return textOf(await ask(c, model, { messages: [user('hi'), first, user('more')] }))
  },
  async see(c, model, text) {
    const image = { format: 'png', source: { bytes: Buffer.from(PIXEL, 'base64') } }
    return textOf(await ask(c, model, { messages: [{ role: 'user', content: [{ text }, { image }] }] }))
  },
  async embed({ client }, modelId, texts) {
    const embedOne = async inputText => {
      const { body } = await client.send(
        new InvokeModelCommand({
          modelId,
          contentType: 'application/json',
          body: JSON.stringify({ inputText }),
        }),
      )
      return JSON.parse(new TextDecoder().decode(body)).embedding
    }
    return Promise.all(texts.map(embedOne))
  },
  abort: ({ client }, modelId, text, abortSignal) =>
    client.send(new ConverseCommand({ modelId, messages: [user(text)] }), { abortSignal }),
})
