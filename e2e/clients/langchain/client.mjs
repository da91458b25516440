import { tool } from '@langchain/core/tools'
import { PIXEL, playSteps, SCHEMA, TOOL } from '../steps.mjs'
import { configure } from './configuration.mjs'

const variant = process.argv[2]
const chatOf = (c, model, options) => c[variant](model, options)
const textOf = ({ content }) =>
  typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
const weather = tool(TOOL.run, { name: TOOL.name, description: TOOL.description, schema: SCHEMA })

/** What makes each of them show and return its reasoning. */
const REASONING = {
  openai: {
    useResponsesApi: true,
    zdrEnabled: true,
    reasoning: { effort: 'low' },
    modelKwargs: { include: ['reasoning.encrypted_content'] },
  },
  anthropic: { thinking: { type: 'enabled', budget_tokens: 1024 } },
}

const langchain = {
  retries: true,
  ask: async (c, model, content) => textOf(await chatOf(c, model).invoke([{ role: 'user', content }])),
  async *stream(c, model, text) {
    for await (const chunk of await chatOf(c, model).stream(text)) yield textOf(chunk)
  },
  async tools(c, model) {
    const bound = chatOf(c, model).bindTools([weather])
    const messages = [{ role: 'user', content: 'hi' }]
    const called = await bound.invoke(messages)
    messages.push(called)
    for (const call of called.tool_calls) messages.push(await weather.invoke(call))
    return textOf(await bound.invoke(messages))
  },
  json: (c, model) =>
    chatOf(c, model).withStructuredOutput(SCHEMA, { name: 'place', method: 'jsonSchema' }).invoke('hi'),
  abort: (c, model, text, signal) => chatOf(c, model).invoke(text, { signal }),
}
if (variant !== 'anthropic') {
  langchain.embed = (c, model, texts) => c[`${variant}Embeddings`](model).embedDocuments(texts)
}

if (variant === 'google') {
  // It does not repeat a 429.
  langchain.retries = false
  // It leaves a signal unread.
  langchain.abort = undefined
  // A cut stream rejects a second promise in it, which the client does not await.
  process.on('unhandledRejection', () => {})
} else {
  langchain.reason = async (c, model) => {
    const chat = chatOf(c, model, REASONING[variant])
    const messages = [{ role: 'user', content: 'hi' }]
    messages.push(await chat.invoke(messages), { role: 'user', content: 'more' })
    return textOf(await chat.invoke(messages))
  }
  langchain.see = (c, model, text) =>
    langchain.ask(c, model, [
      { type: 'text', text },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ])
}

await playSteps(configure, langchain)
