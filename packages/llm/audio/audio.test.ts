import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBytePieces } from '../json/base64.ts'
import { runAtOnce } from '../json/run-at-once.ts'
import { custom } from '../providers/custom.ts'
import { groq } from '../providers/groq.ts'
import { openai } from '../providers/openai.ts'
import { measureLongestStep } from '../testing/measure-ms.ts'
import type { SpeechFormat, SpeechRequest, TranscriptFormat } from './audio-format.ts'
import { measureSeconds } from './audio-length.ts'
import { audioCostNanoUsd, maxSpeechUsage, maxTranscriptionUsage } from './audio-pricing.ts'
import { findAudioType } from './audio-type.ts'
import { encodeSpeechReply } from './encode-speech.ts'
import { encodeTranscript } from './encode-transcript.ts'
import { decodeSpeech, decodeTranscription, findRequestedFormat } from './openai-audio.ts'
import { parseSpeech } from './parse-speech.ts'
import { parseTranscription } from './parse-transcription.ts'

const MiB = 1_048_576
const maxSeconds = (file: Buffer): number => runAtOnce(measureSeconds(file))

const head = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat([...parts.map(part => Buffer.from(part as string, 'latin1')), Buffer.alloc(40)])

/** A WAV file of `seconds` seconds. */
function wav(seconds: number, { channels = 1, samples = 16_000, bits = 16 } = {}): Buffer {
  const rate = (channels * samples * bits) / 8
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(samples, 24)
  header.writeUInt16LE(bits, 34)
  return Buffer.concat([header, Buffer.alloc(rate * seconds)])
}

describe('findAudioType', () => {
  test.each([
    [head('ID3\x04'), 'mp3'],
    [head([0xff, 0xfb]), 'mp3'],
    [head([0xff, 0xf1]), 'aac'],
    [head('fLaC'), 'flac'],
    [head('OggS'), 'ogg'],
    [wav(0), 'wav'],
    [head('\x1aE\xdf\xa3'), 'webm'],
    [head('\0\0\0\x18ftypM4A '), 'm4a'],
    [head('\0\0\0\x18ftypisom'), 'mp4'],
  ])('knows %# by its first bytes', (bytes, extension) => {
    expect(findAudioType(bytes)?.extension).toBe(extension)
  })

  test.each([
    ['a text', Buffer.from('hello, I am a text')],
    ['an image', head('\x89PNG\r\n\x1a\n')],
    ['nothing', Buffer.alloc(0)],
  ])('does not know %s', (_, bytes) => {
    expect(findAudioType(bytes)).toBeUndefined()
  })
})

describe('maxSeconds', () => {
  test('returns the length of a WAV file', () => {
    expect(maxSeconds(wav(60))).toBe(61)
    expect(maxSeconds(wav(60, { channels: 2, samples: 48_000, bits: 24 }))).toBe(61)
  })

  test.each([
    ['that says it has no samples', wav(60, { channels: 0 })],
    ['that is cut off in its header', wav(60).subarray(0, 20)],
  ])('returns the longest length that the bytes allow for a WAV file %s', (_, bytes) => {
    expect(maxSeconds(bytes)).toBe(Math.max(1, Math.ceil(bytes.length / 750)))
  })

  test('returns a positive whole number for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isWav) => {
        const file = isWav ? Buffer.concat([wav(0).subarray(0, 20), bytes]) : Buffer.from(bytes)
        expect(maxSeconds(file)).toSatisfy(seconds => Number.isSafeInteger(seconds) && Number(seconds) > 0)
      }),
    )
  })
})

describe('audioCostNanoUsd', () => {
  const silent = { characters: 0 }

  test('by the hour is exact, and at least the provider’s minimum', () => {
    expect(audioCostNanoUsd({ seconds: 60 }, silent, { per_hour: 0.36 })).toBe(6_000_000)
    expect(audioCostNanoUsd({ seconds: 1 }, silent, { per_hour: 0.36, min_seconds: 10 })).toBe(1_000_000)
    expect(audioCostNanoUsd({ seconds: 0.5 }, silent, { per_hour: 0.111 })).toBe(15_417)
  })

  test('by the character counts what is spoken', () => {
    expect(audioCostNanoUsd({}, { characters: 1_000 }, { per_million_characters: 15 })).toBe(15_000_000)
  })

  test('by tokens adds up every kind', () => {
    const tokens = { textInput: 10, audioInput: 100, textOutput: 20, audioOutput: 0 }
    const prices = { text_input: 2.5, audio_input: 6, text_output: 10 }
    expect(audioCostNanoUsd({ tokens }, silent, prices)).toBe(25_000 + 600_000 + 200_000)
  })

  test.each([
    ['without prices', { seconds: 1 }, undefined],
    ['without the length', {}, { per_hour: 1 }],
    ['without tokens', { seconds: 1 }, { text_input: 1, text_output: 1 }],
    [
      'without the price of a kind that was used',
      { tokens: { textInput: 0, audioInput: 0, textOutput: 1, audioOutput: 0 } },
      { text_input: 1 },
    ],
  ])('is unknown %s', (_, usage, prices) => {
    expect(audioCostNanoUsd(usage, silent, prices)).toBeNull()
  })

  test('a transcript may use what the measured length of its file allows', () => {
    const request = parseTranscription('translations', { model: 'm' }, wav(60))
    const measured = { ...request, file: { ...request.file, seconds: 7 } }
    expect(maxTranscriptionUsage(measured)).toMatchObject({
      seconds: 7,
      tokens: { audioInput: 140, textOutput: 70 },
    })
  })

  test('slow speech may use more', () => {
    const request = { input: 'x'.repeat(500), speed: 1, instructions: undefined } as SpeechRequest
    const usual = maxSpeechUsage(request).seconds ?? 0
    expect(maxSpeechUsage({ ...request, speed: 0.25 }).seconds).toBe(4 * usual)
  })
})

describe('the format that is asked for', () => {
  const whisper = { provider: openai, model: 'whisper-1' }
  const untimed = { provider: openai, model: 'gpt-4o-transcribe' }
  const free = { provider: groq, model: 'whisper-large-v3' }

  test.each<[TranscriptFormat, typeof whisper, string | undefined]>([
    ['json', whisper, 'json'],
    ['text', whisper, 'json'],
    ['srt', whisper, 'verbose_json'],
    ['verbose_json', whisper, 'verbose_json'],
    // Its short answer does not say how long the audio was.
    ['json', free, 'verbose_json'],
    ['json', { provider: custom, model: 'any' }, 'verbose_json'],
    ['text', untimed, 'json'],
    ['srt', untimed, undefined],
    ['verbose_json', untimed, undefined],
    ['diarized_json', { provider: openai, model: 'gpt-4o-transcribe-diarize' }, 'diarized_json'],
  ])('for %s at %o is %s', (format, target, expected) => {
    expect(findRequestedFormat(format, target)).toBe(expected)
  })
})

describe('a transcript', () => {
  const body = {
    text: 'Hello there. Bye.',
    duration: 3_723.5,
    segments: [
      { start: 0, end: 1.5, text: ' Hello there.' },
      { start: 3_722.004, end: 3_723.5, text: ' Bye.' },
    ],
  }
  const reply = decodeTranscription(body)
  const encode = (format: TranscriptFormat, isStream = false): string =>
    encodeTranscript({ format, isStream }, reply as NonNullable<typeof reply>).bytes.toString()

  test('tells the seconds of its usage, or its duration', () => {
    expect(reply?.usage.seconds).toBe(3_723.5)
    expect(
      decodeTranscription({ text: 'a', duration: 9.4, usage: { type: 'duration', seconds: 10 } })?.usage,
    ).toEqual({ seconds: 10, tokens: undefined })
  })

  test('tells its tokens by kind', () => {
    const usage = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { audio_tokens: 10 },
      output_tokens: 5,
    }
    expect(decodeTranscription({ text: 'a', usage })?.usage.tokens).toEqual({
      ...{ textInput: 4, audioInput: 10, textOutput: 5, audioOutput: 0 },
    })
  })

  test.each([{}, { text: 5 }, { error: { message: 'no' } }])('is not in %j', answer => {
    expect(decodeTranscription(answer)).toBeUndefined()
  })

  test('as json has its text and its usage', () => {
    expect(JSON.parse(encode('json'))).toEqual({
      text: body.text,
      usage: { type: 'duration', seconds: 3_724 },
    })
  })

  test('as text is its text', () => {
    expect(encode('text')).toBe('Hello there. Bye.\n')
  })

  test('as srt and vtt has its times', () => {
    expect(encode('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n01:02:02,004 --> 01:02:03,500\nBye.\n\n',
    )
    expect(encode('vtt')).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.\n\n01:02:02.004 --> 01:02:03.500\nBye.\n\n',
    )
  })

  test('as events is a delta and its end', () => {
    const events = encode('json', true).trim().split('\n\n')
    expect(events.map(event => JSON.parse(event.split('data: ')[1] as string).type)).toEqual([
      'transcript.text.delta',
      'transcript.text.done',
    ])
  })
})

describe('speech', () => {
  const target = { provider: openai, model: 'gpt-4o-mini-tts' }
  const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
  const events = Buffer.from(
    event({ type: 'speech.audio.delta', audio: Buffer.from('one ').toString('base64') }) +
      event({ type: 'speech.audio.delta', audio: Buffer.from('two').toString('base64') }) +
      event({ type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 30, total_tokens: 34 } }),
  )

  const decode = (bytes: Buffer, contentType: string, format: SpeechFormat | undefined, of = target) => {
    return runAtOnce(decodeSpeech({ bytes, contentType }, { format }, of))
  }

  test('of many short events is decoded in steps', () => {
    const many = Buffer.from('data: {}\n\n'.repeat(100_000))
    const steps = decodeSpeech({ bytes: many, contentType: 'text/event-stream' }, { format: 'mp3' }, target)
    let count = 1
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThan(30)
  })

  test.each([
    ['short events', 'AAAA'],
    ['events of 3 MiB', 'AAAA'.repeat(700_000)],
  ])('of 60 MiB in %s is decoded and written in steps', (_, audio) => {
    const one = Buffer.from(event({ type: 'speech.audio.delta', audio }))
    const count = Math.floor((60 * MiB) / one.length)
    const bytes = Buffer.alloc(count * one.length, one)
    let length = 0
    const longestMs = measureLongestStep(
      (function* (): Generator<void, void> {
        const contentType = 'text/event-stream'
        const reply = yield* decodeSpeech({ bytes, contentType }, { format: 'mp3' }, target)
        yield
        for (const piece of toBytePieces(reply?.audio ?? bytes)) {
          length += piece.length
          yield
        }
      })(),
    )
    expect(length).toBe((count * audio.length * 3) / 4)
    expect(longestMs).toBeLessThan(30)
  })

  test('with an event of very many values is refused', () => {
    const event = Buffer.from(`data: {"usage":[${'{},'.repeat(1_000_000)}{}]}\n\n`)
    expect(() => decode(event, 'text/event-stream', 'mp3')).toThrow('too many values')
  })

  test('in events is joined, with the usage of the last one', () => {
    expect(decode(events, 'text/event-stream; charset=utf-8', 'opus')).toEqual({
      audio: Buffer.from('one two'),
      format: 'opus',
      usage: { tokens: { textInput: 4, audioInput: 0, textOutput: 0, audioOutput: 30 } },
    })
  })

  test('in bytes is what it is', () => {
    const bytes = Buffer.from([1, 2, 3])
    const spoken = { provider: openai, model: 'tts-1' }
    const reply = decode(bytes, 'audio/mpeg', undefined, spoken)
    expect(reply).toEqual({ audio: bytes, format: 'mp3', usage: {} })
  })

  test.each([
    ['an error as JSON', Buffer.from('{"error":"x"}'), 'application/json'],
    ['nothing', Buffer.alloc(0), 'audio/mpeg'],
    ['events without audio', Buffer.from(event({ type: 'speech.audio.done' })), 'text/event-stream'],
  ])('is not in %s', (_, bytes, type) => {
    expect(decode(bytes, type, 'mp3')).toBeUndefined()
  })

  test('is encoded as bytes of its media type, or as events', () => {
    const reply = { audio: Buffer.from('abc'), format: 'wav', usage: {} } as const
    expect(encodeSpeechReply({ isStream: false }, reply)).toEqual({
      contentType: 'audio/wav',
      bytes: reply.audio,
    })
    const { contentType, bytes } = encodeSpeechReply({ isStream: true }, reply)
    expect(contentType).toBe('text/event-stream')
    expect(decode(Buffer.from(String(bytes)), contentType, 'wav')?.audio).toEqual(reply.audio)
  })
})

describe('parseSpeech', () => {
  const valid = { model: 'openai/tts-1', input: 'Hello', voice: 'alloy' }

  test('has defaults', () => {
    expect(parseSpeech(valid)).toEqual({
      ...valid,
      ...{ instructions: undefined, format: undefined, speed: 1, isStream: false, rest: {} },
    })
  })

  test.each([
    ['input', { input: '' }],
    ['input', { input: 'x'.repeat(4097) }],
    ['instructions', { instructions: 'x'.repeat(4097) }],
    ['voice', { voice: '' }],
    ['voice', { voice: 5 }],
    ['voice.id', { voice: { id: 5 } }],
    ['speed', { speed: 5 }],
    ['response_format', { response_format: 'ogg' }],
    ['stream_format', { stream_format: 'json' }],
    ['n', { n: 2 }],
  ])('refuses %s of %j', (param, fields) => {
    expect(() => parseSpeech({ ...valid, ...fields })).toThrow(expect.objectContaining({ param }))
  })
})

describe('parseTranscription', () => {
  const file = wav(1)
  const parse = (fields: Record<string, string | string[]>, bytes: Buffer | undefined = file) =>
    parseTranscription('transcriptions', { model: 'openai/whisper-1', ...fields }, bytes)

  test('reads what it knows and passes on the rest', () => {
    const fields = {
      response_format: 'srt',
      prompt: 'Names: Ann',
      temperature: '0.5',
      language: 'en',
      stream: 'true',
    }
    expect(parse({ ...fields, timestamp_granularities: ['word'] })).toMatchObject({
      ...{ format: 'srt', prompt: 'Names: Ann', isStream: true },
      rest: { temperature: 0.5, language: 'en', timestamp_granularities: ['word'] },
    })
  })

  test.each([
    ['file', {}, Buffer.from('a text')],
    ['url', { url: 'https://example.com/a.mp3' }, file],
    ['Url', { Url: 'https://example.com/a.mp3' }, file],
    ['url[]', { 'url[]': 'https://example.com/a.mp3' }, file],
    ['file_id', { file_id: 'file-1' }, file],
    ['response_format', { response_format: 'xml' }, file],
    ['temperature', { temperature: 'warm' }, file],
    ['temperature', { temperature: ' ' }, file],
    ['stream', { stream: 'yes' }, file],
    ['model', { model: '' }, file],
    ['n', { n: '5' }, file],
  ])('refuses %s of %j', (param, fields, bytes) => {
    expect(() => parse(fields, bytes)).toThrow(expect.objectContaining({ param }))
  })

  test('refuses a form without a file', () => {
    expect(() => parseTranscription('translations', { model: 'm' }, undefined)).toThrow('file: must be')
  })
})
