import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { expect, test } from 'vitest'
import { countInput, countMaxInput } from './count-input.ts'

const WIRE = new URL('../../../../../shared/wire/', import.meta.url)
const hasWire = existsSync(WIRE)
if (!hasWire) console.log('skipped: the recordings of ../shared/wire are not there (731 counts of input)')

interface RecordedCount {
  readonly request: ChatRequest
  /** The count that the provider reported. */
  readonly real: number
}

/**
 * Recorded text-only chats that report their input, in the two formats whose requests are closest to the internal form.
 */
function* readAll(): Generator<RecordedCount> {
  for (const folder of readdirSync(WIRE, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    for (const file of readdirSync(new URL(folder.name, WIRE))) {
      if (!/^(chat-completions|messages)__/.test(file)) continue
      const { request, response } = JSON.parse(readFileSync(new URL(`${folder.name}/${file}`, WIRE), 'utf8'))
      if (typeof request?.body !== 'string' || response?.status !== 200) continue
      if (/image_url|"image"|input_audio|"document"|"file"/.test(request.body)) continue
      const body = parse(request.body)
      const real = readReal((response.body ?? '') + (response.chunks ?? []).join('\n'))
      if (!Array.isArray(body?.messages) || real === 0) continue
      const system = typeof body.system === 'object' ? JSON.stringify(body.system) : body.system
      const first = system === undefined ? [] : [{ role: 'system', content: system }]
      const tools = body.tools ?? undefined
      const responseFormat = body.response_format ?? undefined
      const made = {
        model: 'm',
        stream: false,
        messages: [...first, ...body.messages],
        tools,
        responseFormat,
      }
      yield { request: made as unknown as ChatRequest, real }
    }
  }
}

function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readReal(text: string): number {
  const most = (name: string): number =>
    Math.max(
      0,
      ...[...text.matchAll(new RegExp(`"${name}"\\s*:\\s*(\\d+)`, 'g'))].map(match => Number(match[1])),
    )
  const prompt = most('prompt_tokens')
  if (prompt > 0) return prompt
  return most('input_tokens') + most('cache_read_input_tokens') + most('cache_creation_input_tokens')
}

test.skipIf(!hasWire)('few recorded chats counted more input than is reserved', () => {
  const all = [...readAll()]
  const share = (count: (request: ChatRequest) => number): number =>
    all.filter(({ request, real }) => real > count(request)).length / all.length
  const [likely, reserved] = [share(countInput), share(countMaxInput)]
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`
  console.log(
    `${all.length} chats: above four bytes a token ${percent(likely)}, above what is reserved ${percent(reserved)}`,
  )
  expect(all.length).toBeGreaterThan(500)
  // The rest have tools that the provider runs and whose results it counts, or templates that think.
  expect(reserved).toBeLessThan(0.2)
})

test('reserves little more for plain words than they take', () => {
  const content = 'The quick brown fox jumps over the lazy dog. '.repeat(100)
  const request = {
    model: 'm',
    stream: false,
    messages: [{ role: 'user', content }],
  } as unknown as ChatRequest
  expect(countMaxInput(request) / countInput(request)).toBeLessThan(1.25)
})
