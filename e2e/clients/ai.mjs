// The AI SDK with one of its providers, in the versions whose folders name this file.
import { PIXEL, SCHEMA, TOOL } from './steps.mjs'

/** `sdk`: the module `ai` of a folder; `variant`: the provider's name in its block of docs/clients.md. */
export function aiSdk(sdk, variant) {
  const modelOf = (c, model) => (variant === 'openai-chat' ? c.openai.chat(model) : c[variant](model))
  const user = content => [{ role: 'user', content }]
  const { name, description, run } = TOOL
  const schema = sdk.jsonSchema(SCHEMA)
  const weather = sdk.tool({ description, inputSchema: schema, execute: run })
  const client = {
    retries: true,
    ask: async (c, model, text) =>
      (await sdk.generateText({ model: modelOf(c, model), messages: user(text) })).text,
    async *stream(c, model, text) {
      const { fullStream } = sdk.streamText({
        model: modelOf(c, model),
        messages: user(text),
        onError: () => {},
      })
      for await (const part of fullStream) {
        if (part.type === 'text-delta') yield part.text
        // The SDK tells of an error in the stream by a part.
        if (part.type === 'error') throw part.error
        // Google's provider has no error there: the finish reason tells that the answer did not come to its end.
        const { type, finishReason } = part
        if (type === 'finish' && finishReason !== 'stop') throw new Error(`finished by ${finishReason}`)
      }
    },
    async tools(c, model) {
      const stopWhen = (sdk.isStepCount ?? sdk.stepCountIs)(4)
      const tools = { [name]: weather }
      return (await sdk.generateText({ model: modelOf(c, model), prompt: 'hi', tools, stopWhen })).text
    },
    async json(c, given) {
      // It asks by a tool: the provider knows few models by name that have another way.
      const model = variant === 'anthropic' ? 'sandbox/tools' : given
      if (sdk.generateObject !== undefined) {
        return (await sdk.generateObject({ model: modelOf(c, model), prompt: 'hi', schema })).object
      }
      const output = sdk.Output.object({ schema })
      return (await sdk.generateText({ model: modelOf(c, model), prompt: 'hi', output })).output
    },
    async reason(c, model) {
      // Chat completions have no field for signatures: the ids of calls carry them.
      if (variant === 'openai-chat' || variant === 'compatible') return client.tools(c, model)
      const providerOptions = {
        openai: { store: false, include: ['reasoning.encrypted_content'], forceReasoning: true },
        anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
        google: { thinkingConfig: { includeThoughts: true } },
      }
      const ask = messages => sdk.generateText({ model: modelOf(c, model), messages, providerOptions })
      const { response } = await ask(user('hi'))
      return (await ask([...user('hi'), ...response.messages, ...user('more')])).text
    },
    see: (c, model, text) =>
      client.ask(c, model, [
        { type: 'text', text },
        { type: 'image', image: `data:image/png;base64,${PIXEL}` },
      ]),
    abort: (c, model, prompt, abortSignal) =>
      sdk.generateText({ model: modelOf(c, model), prompt, abortSignal }),
  }
  // Anthropic has neither.
  if (variant !== 'anthropic') {
    client.embed = async (c, model, values) => {
      const provider = variant === 'openai-chat' ? c.openai : c[variant]
      const embedder = provider.embeddingModel ?? provider.textEmbeddingModel
      return (await sdk.embedMany({ model: embedder.call(provider, model), values })).embeddings
    }
  }
  if (variant === 'openai' || variant === 'compatible') {
    const generateImage = sdk.generateImage ?? sdk.experimental_generateImage
    client.draw = async (c, model) =>
      (await generateImage({ model: c[variant].imageModel(model), prompt: 'a fox' })).image.base64
  }
  return client
}
