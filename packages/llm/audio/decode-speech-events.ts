import { openSseParser } from '../frames/sse.ts'
import { joinLater } from '../json/base64.ts'
import { assertBoundedEvent } from '../json/bounded-event.ts'
import type { JsonObject } from '../json/json-value.ts'
import { toObject, toText } from '../json/json-value.ts'
import type { SentBody } from '../json/unwritten-json.ts'

/** The most bytes of one event: a second of uncompressed audio in base64 has 64 KiB. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024

/** What one step decodes: some thousand events, if they are as short as can be. */
const STEP_BYTES = 32 * 1024

/**
 * The audio of `speech.audio.delta` events, and the usage of `speech.audio.done`. Yields between pieces of the work. Throws for what is no
 * such stream.
 */
export function* decodeSpeechEvents(
  bytes: Buffer,
): Generator<void, { audio: SentBody; usage: JsonObject | undefined }> {
  const pieces: Buffer[] = []
  let ofStep: Buffer[] = []
  let usage: JsonObject | undefined
  const parser = openSseParser(
    ({ data }) => {
      if (data === '[DONE]') return
      assertBoundedEvent(data)
      const event = toObject(JSON.parse(data)) ?? {}
      if (event.type === 'speech.audio.delta') ofStep.push(Buffer.from(toText(event.audio) ?? '', 'base64'))
      else if (event.type === 'speech.audio.done') usage = toObject(event.usage)
      else if (event.type === 'error' || event.error !== undefined)
        throw new Error('the stream reports an error')
    },
    { maxEventBytes: MAX_EVENT_BYTES },
  )
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    parser.push(bytes.subarray(at, at + STEP_BYTES))
    // A million short events must not leave a million buffers.
    if (ofStep.length > 0) pieces.push(ofStep.length === 1 ? (ofStep[0] as Buffer) : Buffer.concat(ofStep))
    ofStep = []
    yield
  }
  parser.end()
  return { audio: joinLater([...pieces, ...ofStep]), usage }
}
