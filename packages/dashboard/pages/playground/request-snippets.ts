import type { ChatParams } from '../../../sdk/index.ts'
import { SDK_INSTALL, type Snippet } from '../../snippets/snippets.ts'

interface Gateway {
  readonly gatewayUrl: string
  readonly prefixes: Readonly<Record<string, string | undefined>>
}

/** Longer URLs, such as those of images, are shortened in the snippet. */
const MAX_URL_CHARS = 120

/** Returns the request as code that reads its key from the environment. */
export function toRequestSnippets(params: ChatParams, gateway: Gateway): readonly Snippet[] {
  const { gatewayUrl, prefixes } = gateway
  const json = JSON.stringify(params, shorten, 2)
  return [
    {
      id: 'curl',
      label: 'curl',
      text: `curl ${gatewayUrl}/v1/chat \\
  -H "authorization: Bearer $RIDEAU_KEY" \\
  -H 'content-type: application/json' \\
  -d '${json.replaceAll("'", "'\\''")}'`,
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      install: SDK_INSTALL,
      text: `import { RideauServer } from '@rideau/sdk/server'

const rideau = new RideauServer({
  gatewayUrl: ${JSON.stringify(gatewayUrl)},
  secretKey: process.env.RIDEAU_KEY,
})
const stream = rideau.streamChat(${json})
for await (const { choices } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? '')
}`,
    },
    {
      id: 'python',
      label: 'Python',
      install: [{ command: 'pip install openai' }],
      text: `import os
from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(`${gatewayUrl}${prefixes.openai ?? '/openai'}/v1`)},
    api_key=os.environ["RIDEAU_KEY"],
)
answer = client.chat.completions.create(
${toArguments(JSON.parse(json))}
)
print(answer.choices[0].message)`,
    },
  ]
}

function shorten(name: string, value: unknown): unknown {
  const isImage = name === 'url' && typeof value === 'string' && value.length > MAX_URL_CHARS
  return isImage ? `${value.slice(0, 40)}…` : value
}

function toArguments(params: Record<string, unknown>): string {
  return Object.entries(params)
    .map(([name, value]) => {
      // The OpenAI client has another name for it.
      const given = name === 'max_output_tokens' ? 'max_completion_tokens' : name
      return `    ${given}=${toPython(value)},`
    })
    .join('\n')
}

/** Writes JSON as Python, which differs in null, true and false. */
function toPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${toPython(item)}`)
    return `{${entries.join(', ')}}`
  }
  return JSON.stringify(value)
}
