import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FormatHarness, openFormatHarness, PROVIDERS } from '../../testing/harness/format-harness.ts'
import { findErrorFields, toStreamRequest } from '../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../testing/harness/format-targets.ts'
import {
  type FramePart,
  type ProviderAnswer,
  type ProviderFrame,
  TOKENS,
} from '../../testing/harness/provider-answer.ts'
import { PROVIDER_ANSWERS } from '../../testing/harness/provider-answers.ts'
import { SERVED_STREAMS, type ServedAnswer } from '../../testing/harness/served-answers.ts'

/**
 * A provider's stream that ends early, at every kind of place, for every format of callers and of providers: the caller
 * learns of it, and what was generated is billed.
 */

const TEXTS = ['Hello, ', 'Zoë 😀']
const PIECES = ['{"city":', '"Ål"}']
const CALL = { id: 'call_1', name: 'usual_tool', pieces: PIECES }

/** How the provider ends its stream: it breaks the connection, or ends the answer as if it were whole. */
const ENDINGS = ['broken', 'ended'] as const
type Ending = (typeof ENDINGS)[number]

/** A place in a provider's stream. */
interface Cut {
  readonly place: string
  /** The frames that come whole. */
  readonly frames: readonly ProviderFrame[]
  readonly bytes: Buffer
  /** Whether a part of another frame comes too. */
  readonly isTorn: boolean
}

const answers: readonly (readonly [format: string, answer: ProviderAnswer])[] = Object.entries(
  PROVIDER_ANSWERS,
).map(([format, toAnswer]) => [format, toAnswer({ texts: TEXTS, calls: [CALL], finish: 'tool_calls' })])

function listCuts({ frames }: ProviderAnswer): Cut[] {
  const find = (part: FramePart, nth = 0): number =>
    [...frames.keys()].filter(at => frames[at]?.parts.includes(part))[nth] ?? frames.length - 1
  const at = (place: string, whole: number, within = 0): Cut => {
    const pieces = frames.slice(0, whole).map(({ bytes }) => bytes)
    const rest = frames[whole]?.bytes.subarray(0, within) ?? Buffer.of()
    return {
      place,
      frames: frames.slice(0, whole),
      bytes: Buffer.concat([...pieces, rest]),
      isTorn: within > 0,
    }
  }
  const halfOf = (index: number): number => Math.floor((frames[index]?.bytes.length ?? 0) / 2)
  const text = find('text', 1)
  return [
    at('before the first byte', 0),
    at('within the first event', 0, halfOf(0)),
    at('before the first text', find('text')),
    at('between two events', text),
    at('within a character', text, (frames[text]?.bytes.indexOf('😀') ?? 0) + 2),
    at('after the name of a call', find('call') + 1),
    at('within the arguments of a call', find('arguments', 1)),
    at('within an event of arguments', find('arguments', 1), halfOf(find('arguments', 1))),
    at('before the finish reason', find('finish')),
    at('after the finish reason', find('finish') + 1),
    at('within the usage', find('usage'), halfOf(find('usage'))),
    at('after the usage', find('usage') + 1),
    at('at the end', frames.length),
  ]
}

let harness: FormatHarness
/** Of an environment that keeps metadata only, so that bytes of the same format pass undecoded. */
let productionKey: string

beforeAll(async () => {
  harness = await openFormatHarness()
  const { app, upstream } = harness
  for (const provider of PROVIDERS) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    const fields = { api_key: 'key', base_url: upstream.baseUrl, ...options }
    await app.addCredential(provider, fields, app.productionId)
  }
  productionKey = (await app.createKey({}, app.productionId)).key
  for (const [format, [model]] of Object.entries(FORMAT_TARGETS)) {
    const once = { model, max_retries: 0 }
    await createAlias(app.productionId, `only-${format}`, [once])
    await createAlias(app.developmentId, `only-${format}`, [once])
    await createAlias(app.developmentId, `first-${format}`, [once, { model: 'sandbox/echo' }])
  }
  const table = new Map(answers.map(([format, answer]) => [format, { answer, cuts: listCuts(answer) }]))
  // The caller's text says where the stream ends.
  upstream.script(async (res, seen) => {
    const [, format = '', at = '', ending] = /cut:([a-z0-9-]+):(\d+):(\w+)/.exec(seen.text) ?? []
    const { answer, cuts } = table.get(format) as { answer: ProviderAnswer; cuts: Cut[] }
    const { bytes } = cuts[Number(at)] as Cut
    res.writeHead(200, { 'content-type': answer.contentType })
    res.flushHeaders()
    if (bytes.length > 0) await new Promise<void>(resolve => res.write(bytes, () => resolve()))
    if (ending === 'broken') setImmediate(() => res.destroy())
    else res.end()
  })
})

afterAll(async () => {
  await harness.close()
})

async function createAlias(environmentId: string, alias: string, targets: readonly object[]): Promise<void> {
  const body = { alias, strategy: 'priority', targets }
  const made = await harness.app.manage('POST', `/v1/environments/${environmentId}/model-aliases`, body)
  expect(made.status).toBe(201)
}

interface Case {
  readonly format: string
  readonly cut: Cut
  /** The number of the cut. */
  readonly at: number
  readonly ending: Ending
}

function listCases(format: string, answer: ProviderAnswer): Case[] {
  return listCuts(answer).flatMap((cut, at) => ENDINGS.map(ending => ({ format, cut, at, ending })))
}

interface Seen {
  readonly requestId: string
  readonly status: number
  readonly served: ServedAnswer
}

async function ask(surface: string, model: string, { format, at, ending }: Case, key: string): Promise<Seen> {
  const { route, body } = toStreamRequest(surface, model)
  const asked = JSON.stringify(body).replaceAll('"hi"', `"cut:${format}:${at}:${ending}"`)
  const response = await harness.app.call(route, asked, { key })
  const bytes = Buffer.from(await response.arrayBuffer())
  const { status, headers } = response
  const read = SERVED_STREAMS[surface] as (bytes: Buffer) => ServedAnswer
  const served =
    status === 200
      ? read(bytes)
      : { text: '', calls: [], finish: undefined, code: findErrorFields(JSON.parse(bytes.toString())).code }
  return { requestId: headers.get('x-request-id') ?? '', status, served }
}

type Record = { readonly [column: string]: unknown }

/** The records of these requests, once all are there. */
async function findRecords(requestIds: readonly string[]): Promise<Map<unknown, Record>> {
  const { db } = harness.app.database
  const find = async (): Promise<readonly Record[]> =>
    await db.selectFrom('request_logs').selectAll().where('request_id', 'in', requestIds).execute()
  await expect.poll(async () => (await find()).length).toBe(requestIds.length)
  return new Map((await find()).map(record => [record.request_id, record]))
}

const countOf = ({ frames }: Cut, part: FramePart): number =>
  frames.filter(({ parts }) => parts.includes(part)).length

/** The arguments that came. Some formats have calls only whole. */
function argumentsOf(cut: Cut): string {
  const isWhole = cut.frames.some(({ parts }) => parts.includes('call') && parts.includes('arguments'))
  return PIECES.slice(0, isWhole ? PIECES.length : countOf(cut, 'arguments')).join('')
}

/** What the caller must get, and what is recorded. */
function toExpected({ cut, ending }: Case) {
  const has = (part: FramePart): boolean => countOf(cut, part) > 0
  const isOpened = has('text')
  // An answer with a finish reason is whole where the provider itself ends it: some send neither usage nor an end.
  const isWhole = has('end') || (ending === 'ended' && has('finish') && !cut.isTorn)
  const isUnreached = !isOpened && ending === 'broken'
  const code = isWhole ? undefined : isUnreached ? 'provider_unavailable' : 'stream_interrupted'
  const status = isWhole ? 200 : isUnreached ? 503 : 502
  return {
    isOpened,
    isWhole,
    isCounted: has('usage'),
    seen: {
      status: isOpened ? 200 : status,
      code,
      text: TEXTS.slice(0, countOf(cut, 'text')).join(''),
      isFinished: isWhole,
    },
    recorded: { status, error_code: code ?? null },
  }
}

function expectSeen(each: Case, { status, served }: Seen, record: Record): void {
  const { isOpened, isWhole, isCounted, seen, recorded } = toExpected(each)
  const { text, code, finish, calls } = served
  expect({ status, code, text, isFinished: finish !== undefined }).toEqual(seen)
  expect({ status: record.status, error_code: record.error_code }).toEqual(recorded)
  // A call has the arguments that came, and is never made to look whole. Some formats have calls only at the end.
  if (calls.length > 0 || isWhole) expect(calls).toEqual([[CALL.name, argumentsOf(each.cut)]])
  const { uncached_input_tokens: input, output_tokens: output, usage_estimated: isEstimated } = record
  if (isCounted) expect([input, output, isEstimated]).toEqual([TOKENS.input, TOKENS.output, false])
  else {
    expect(input).toBeGreaterThan(0)
    expect(output).toBeLessThan(100)
    if (isOpened) expect([Number(output) > 0, isEstimated]).toEqual([true, true])
  }
}

describe.each(Object.keys(SERVED_STREAMS))('a caller of %s', surface => {
  test.each(answers)(
    'learns where a stream of %s ended, and pays for what it got',
    async (format, answer) => {
      const keys = surface === format ? [harness.app.secretKey, productionKey] : [harness.app.secretKey]
      const asked = listCases(format, answer).flatMap(each => keys.map(key => ({ each, key })))
      const seen = await Promise.all(
        asked.map(async ({ each, key }) => {
          try {
            return await ask(surface, `only-${format}`, each, key)
          } catch (error) {
            throw new Error(`${each.cut.place}, ${each.ending}`, { cause: error })
          }
        }),
      )
      const records = await findRecords(seen.map(({ requestId }) => requestId))
      const wrong = asked.flatMap(({ each }, at) => {
        const answered = seen[at] as Seen
        try {
          expectSeen(each, answered, records.get(answered.requestId) as Record)
          return []
        } catch (error) {
          return [`${each.cut.place}, ${each.ending}: ${String(error)} in ${JSON.stringify(answered)}`]
        }
      })
      expect(wrong).toEqual([])
    },
  )
})

test.each(answers)(
  'the next target answers if a stream of %s ends before its first text',
  async (format, answer) => {
    const early = listCases(format, answer).filter(({ cut }) => countOf(cut, 'text') === 0)
    const { secretKey } = harness.app
    const seen = await Promise.all(early.map(each => ask('native', `first-${format}`, each, secretKey)))
    for (const each of seen)
      expect(each).toMatchObject({ status: 200, served: { finish: 'stop', code: undefined } })
  },
)
