import { openSseParser, type SseEvent } from '@rideau/llm/frames/sse'
import { cut, Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

export const seeds = [
  '\x02data: {"a":"b"}\n\nevent: x\r\ndata: 1\r\ndata: 2\r\n\r\n: c\n\ndata: [DONE]\n\n',
  '\x01\xef\xbb\xbfdata:a\r\rid: 7\ndata\n\nevent\ndatabase: x\n\n\ndata: \xc3\xa9',
  '\x0fdata: a\n',
].map(text => Buffer.from(text, 'latin1'))

const MAX_EVENT_BYTES = 4096

interface Read {
  readonly events: { event: string; data: string }[]
  readonly raw: string
  readonly isTooLarge: boolean
}

function read(chunks: readonly Buffer[], maxEventBytes = MAX_EVENT_BYTES): Read {
  const found: SseEvent[] = []
  const parser = openSseParser(event => found.push(event), { maxEventBytes })
  const { error } = attempt(() => {
    for (const chunk of chunks) parser.push(chunk)
    parser.end()
    assert(!parser.hasPartial(), 'nothing is begun after the end')
  })
  if (error !== undefined) assert(error.name === 'SseEventTooLargeError', `no other error: ${error.stack}`)
  return {
    events: found.map(({ event, data }) => ({ event, data })),
    raw: found.map(({ raw }) => raw.toString('latin1')).join(''),
    isTooLarge: error !== undefined,
  }
}

/** The algorithm of WHATWG HTML ("Interpreting an event stream") line by line, and an unended event handed out as well. */
function readByReference(bytes: Buffer): { event: string; data: string }[] {
  const events: { event: string; data: string }[] = []
  let event = ''
  let data: string[] = []
  const dispatch = (): void => {
    if (data.length > 0) events.push({ event, data: data.join('\n') })
    event = ''
    data = []
  }
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      dispatch()
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? []
    const decoded = Buffer.from(value, 'latin1').toString('utf8')
    if (name === 'data') data.push(decoded)
    else if (name === 'event') event = decoded
  }
  dispatch()
  return events
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const choice = input.byte()
  const isRepeated = choice % 16 === 15
  const bytes = isRepeated ? repeat(input.rest(), 2000) : input.rest()
  if (isRepeated) {
    assertLinear(bytes, 60, 4000, () => read([bytes]))
    assertLinear(bytes, 60, 4000, () => read(cut(bytes, 2 + (choice >> 4))))
    return
  }
  const whole = read([bytes])
  const chunks = cut(bytes, choice)
  const pieces = read(chunks)
  if (!whole.isTooLarge && !pieces.isTooLarge) {
    assertEqual(whole.events, readByReference(bytes), 'the events that the standard gives')
    assertEqual(pieces.events, whole.events, 'the same events however the bytes are cut')
    assert(bytes.toString('latin1').length >= whole.raw.length, 'no byte is handed out twice')
  } else {
    assert(bytes.length > MAX_EVENT_BYTES, 'nothing below the limit is too large')
  }
  const bounded = read(chunks, 64)
  assertEqual(
    bounded.events,
    whole.events.slice(0, bounded.events.length),
    'a limit ends a stream and changes no event',
  )
}
