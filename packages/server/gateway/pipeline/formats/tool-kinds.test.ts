import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openScriptedUpstream,
  type ScriptedUpstream,
  type UpstreamAnswer,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { FORMAT_TARGETS } from '../../../testing/harness/format-targets.ts'
import { TOOL_FORMATS, type ToolFormat, type ToolKind } from '../../../testing/harness/tool-kinds.ts'

/** Every kind of tool in every format, sent to a provider of every format: none is dropped without notice. */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['groq', 'openai', 'anthropic', 'gemini', 'cohere', 'ollama', 'bedrock']) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl, ...options })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const CASES = Object.entries(TOOL_FORMATS).flatMap(([format, { kinds }]) =>
  Object.keys(kinds).flatMap(kind =>
    Object.keys(FORMAT_TARGETS).map(target => [format, kind, target] as const),
  ),
)

interface Outcome {
  readonly status: number
  readonly param: string
  readonly dropped: string
  /** What the provider received. undefined: it was not called. */
  readonly sent: string | undefined
}

function send(route: string, model: string, body: Record<string, unknown>): Promise<Response> {
  if (!route.includes('{model}')) return app.call(route, { model, ...body })
  return app.call(route.replace('{model}', encodeURIComponent(model)), body)
}

async function request(format: string, kind: string, target: string): Promise<Outcome> {
  const { route, body, usual, kinds } = TOOL_FORMATS[format] as ToolFormat
  const [model, answer] = FORMAT_TARGETS[target] as readonly [string, UpstreamAnswer]
  const { fields } = kinds[kind] as ToolKind
  upstream.script(answer)
  const before = upstream.requests.length
  const given = Array.isArray(fields.tools) ? { ...fields, tools: [...fields.tools, usual] } : fields
  const response = await send(route, model, { ...body, ...given })
  const text = await response.text()
  return {
    status: response.status,
    // Formats name the field in a field of their own, or at the start of the message.
    param: findParam(JSON.parse(text)),
    dropped: response.headers.get('x-rideau-dropped-params') ?? '',
    sent: upstream.requests.length === before ? undefined : upstream.requests.at(-1)?.text,
  }
}

function findParam(body: any): string {
  const message = body.error?.message ?? body.message ?? body.error ?? ''
  return String(body.error?.param ?? message)
}

function isReported({ path, mark }: ToolKind, { status, param, dropped, sent }: Outcome): boolean {
  if (status === 400) return sent === undefined && param.startsWith(path)
  if (status !== 200 || sent === undefined) return false
  if (dropped.split(', ').some(name => name.startsWith(path))) return true
  return mark !== undefined && sent.includes(mark)
}

describe.each(['refuse', 'drop'])('with unsupported_params %s', policy => {
  beforeAll(async () => {
    await app.manage('PATCH', `/v1/environments/${app.developmentId}`, { unsupported_params: policy })
  })

  test.each(CASES)(
    '%s: %s to %s is sent, refused by name or named as dropped',
    async (format, kind, target) => {
      const one = TOOL_FORMATS[format]?.kinds[kind] as ToolKind
      const outcome = await request(format, kind, target)
      expect({ ...outcome, isReported: isReported(one, outcome) }).toMatchObject({ isReported: true })
      if (policy === 'refuse' && one.isLeftOut !== true) expect(outcome.dropped).toBe('')
      if (one.isLeftOut === true) expect(outcome.status).toBe(200)
      // A tool without a mark is never sent.
      if (one.mark === undefined) expect(outcome.status === 400 || outcome.dropped !== '').toBe(true)
      if (policy === 'drop' && outcome.dropped !== '') expect(outcome.status).toBe(200)
    },
  )

  test('passes tools that the caller runs if the formats agree', async () => {
    for (const [format, kind] of [
      ['anthropic-messages', 'bash'],
      ['anthropic-messages', 'computer'],
      ['anthropic-messages', 'what a server tool left'],
      ['openai-responses', 'a patch'],
      ['openai-responses', 'a tool of free text'],
    ] as const) {
      const outcome = await request(format, kind, format)
      expect([outcome.status, outcome.dropped]).toEqual([200, ''])
      expect(outcome.sent).toContain(TOOL_FORMATS[format]?.kinds[kind]?.mark)
    }
  })

  test('passes tools of Anthropic that the caller runs as they came, and to others as functions', async () => {
    const types = { bash: 'bash_20250124', 'text editor': 'text_editor_20250728', memory: 'memory_20250818' }
    for (const [kind, type] of Object.entries(types)) {
      for (const target of Object.keys(FORMAT_TARGETS)) {
        const outcome = await request('anthropic-messages', kind, target)
        expect([kind, target, outcome.status, outcome.dropped]).toEqual([kind, target, 200, ''])
        const isOwn = target === 'anthropic-messages'
        expect([kind, target, outcome.sent?.includes(type)]).toEqual([kind, target, isOwn])
      }
    }
  })

  test('passes a function from every format to every format', async () => {
    for (const { route, body, usual } of Object.values(TOOL_FORMATS)) {
      if (usual === undefined) continue
      for (const [model, answer] of Object.values(FORMAT_TARGETS)) {
        upstream.script(answer)
        const response = await send(route, model, { ...body, tools: [usual] })
        expect([route, model, response.status]).toEqual([route, model, 200])
        expect(upstream.requests.at(-1)?.text).toContain('usual_tool')
      }
    }
  })
})
