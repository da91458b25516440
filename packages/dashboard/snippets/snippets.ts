/** The values that a snippet contains, so that it runs as copied. */
export interface SnippetInput {
  readonly gatewayUrl: string
  /** The path prefixes of the gateway's other formats, such as `openai` to `/openai`. */
  readonly prefixes: Readonly<Record<string, string | undefined>>
  readonly key: string
  readonly model: string
  readonly prompt: string
}

/** A command, and the folder that it runs in if that is not the app's own. */
export interface InstallStep {
  readonly folder?: string
  readonly command: string
}

/** How an app installs the client library, which no package registry has: it is built from Rideau's repository. */
export const SDK_INSTALL: readonly InstallStep[] = [
  { folder: 'a copy of Rideau’s repository', command: 'npm run build:sdk && npm pack -w packages/sdk' },
  { folder: 'your app, with the file that this wrote', command: 'npm install ./rideau-sdk-0.1.0.tgz' },
]

export interface Snippet {
  readonly id: string
  readonly label: string
  /** The commands that install what the snippet needs, if anything. */
  readonly install?: readonly InstallStep[]
  readonly text: string
}

const quoted = (text: string): string => JSON.stringify(text)

/** Returns ways to call this gateway with a secret key. */
export function toSnippets(input: SnippetInput): readonly Snippet[] {
  const { gatewayUrl, key, model, prompt } = input
  const openAiUrl = `${gatewayUrl}${input.prefixes.openai ?? '/openai'}/v1`
  const anthropicUrl = `${gatewayUrl}${input.prefixes.anthropic ?? '/anthropic'}`
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: prompt }] })
  return [
    {
      id: 'curl',
      label: 'curl',
      text: `curl ${gatewayUrl}/v1/chat \\
  -H 'authorization: Bearer ${key}' \\
  -H 'content-type: application/json' \\
  -d '${body.replaceAll("'", "'\\''")}'`,
    },
    ...toOpenAiSnippets(input, openAiUrl),
    {
      id: 'anthropic',
      label: 'Anthropic',
      install: [{ command: 'npm install @anthropic-ai/sdk' }],
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: ${quoted(anthropicUrl)},
  apiKey: ${quoted(key)},
})
const answer = await client.messages.create({
  model: ${quoted(model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: ${quoted(prompt)} }],
})
console.log(answer.content)`,
    },
    {
      id: 'ai-sdk',
      label: 'AI SDK',
      install: [{ command: 'npm install ai@6 @ai-sdk/openai-compatible@2' }],
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const rideau = createOpenAICompatible({
  name: 'rideau',
  baseURL: ${quoted(openAiUrl)},
  apiKey: ${quoted(key)},
})
const { text } = await generateText({
  model: rideau(${quoted(model)}),
  prompt: ${quoted(prompt)},
})
console.log(text)`,
    },
    {
      id: 'claude-code',
      label: 'Claude Code',
      text: `export ANTHROPIC_BASE_URL=${anthropicUrl}
export ANTHROPIC_AUTH_TOKEN=${key}
claude --model ${model}`,
    },
  ]
}

function toOpenAiSnippets({ key, model, prompt }: SnippetInput, openAiUrl: string): readonly Snippet[] {
  return [
    {
      id: 'openai-ts',
      label: 'OpenAI, TypeScript',
      install: [{ command: 'npm install openai' }],
      text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${quoted(openAiUrl)},
  apiKey: ${quoted(key)},
})
const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: ${quoted(prompt)} }],
})
console.log(answer.choices[0].message.content)`,
    },
    {
      id: 'openai-python',
      label: 'OpenAI, Python',
      install: [{ command: 'pip install openai' }],
      text: `from openai import OpenAI

client = OpenAI(base_url=${quoted(openAiUrl)}, api_key=${quoted(key)})
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": ${quoted(prompt)}}],
)
print(answer.choices[0].message.content)`,
    },
  ]
}

/** Returns how a page of an app gets a client token with a publishable key, which gives no access on its own. */
export function toBrowserSnippet({ gatewayUrl, key, model, prompt }: SnippetInput): Snippet {
  return {
    id: 'browser',
    label: 'Browser or app',
    install: SDK_INSTALL,
    text: `import { fromIdentityToken, RideauClient } from '@rideau/sdk'

const rideau = new RideauClient({
  gatewayUrl: ${JSON.stringify(gatewayUrl)},
  tokenSource: fromIdentityToken({
    publishableKey: ${JSON.stringify(key)},
    // From your identity provider: whoever is signed in.
    getIdentityToken: () => auth.currentUser.getIdToken(),
  }),
})
const stream = rideau.streamChat({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: ${JSON.stringify(prompt)} }],
})
for await (const { choices } of stream) console.log(choices[0]?.delta.content)`,
  }
}

/** Returns the key with only its kind and its last four characters readable. */
export function maskKey(key: string): string {
  return `${/^rd_[a-z]+_(?:dev_|prod_)?/.exec(key)?.[0] ?? ''}••••••••${key.slice(-4)}`
}
