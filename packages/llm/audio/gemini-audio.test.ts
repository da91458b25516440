import { describe, expect, test } from 'vitest'
import { toBytePieces } from '../json/base64.ts'
import type { JsonObject } from '../json/json-value.ts'
import { runAtOnce } from '../json/run-at-once.ts'
import type { SentBody } from '../json/unwritten-json.ts'
import { gemini } from '../providers/gemini.ts'
import { measureLongestStep } from '../testing/measure-ms.ts'
import { readThreadMs } from '../testing/read-thread-ms.ts'
import type { Target } from '../upstream/target.ts'
import type { SpeechReply, SpeechRequest, TranscriptionRequest } from './audio-format.ts'
import { findAudioType } from './audio-type.ts'
import { encodeSpeechReply } from './encode-speech.ts'
import { geminiAudio } from './gemini-audio.ts'

const at = (model: string): Target => ({
  ...{ provider: gemini, model, baseUrl: 'https://example.com/v1beta', apiKey: 'k' },
})
const MiB = 1_048_576
const HEARING = at('gemini-2.5-flash')
const SPEAKING = at('gemini-2.5-flash-preview-tts')

const transcription = (fields: Partial<TranscriptionRequest> = {}): TranscriptionRequest => ({
  task: 'transcriptions',
  model: 'gemini/gemini-2.5-flash',
  file: {
    bytes: Buffer.from('ID3 audio'),
    type: { mediaType: 'audio/mpeg', extension: 'mp3' },
    // Other than by its bytes, which are not measured again.
    seconds: 90,
  },
  format: 'json',
  isStream: false,
  prompt: undefined,
  rest: {},
  ...fields,
})
const speech = (fields: Partial<SpeechRequest> = {}): SpeechRequest => ({
  model: 'gemini/gemini-2.5-flash-preview-tts',
  input: 'Hello',
  voice: 'Kore',
  instructions: undefined,
  format: undefined,
  speed: 1,
  isStream: false,
  rest: {},
  ...fields,
})
const sent = (body: SentBody): any => JSON.parse(body.toString())
const bytesOf = (body: JsonObject): Buffer => Buffer.from(JSON.stringify(body))

describe('a transcript by Gemini', () => {
  test('is asked for in words, with the audio inline and without thoughts', () => {
    const rest = { language: 'de', temperature: 0.2 }
    const request = transcription({ prompt: 'Ann, Zoë', rest })
    const { body, path } = geminiAudio.encodeTranscription(request, HEARING)
    const { contents, generationConfig } = sent(body)
    const [text, audio] = contents[0].parts
    expect(path).toBe('/v1beta/models/gemini-2.5-flash:generateContent')
    expect(text.text).toMatch(/word for word.*\n.*: de\..*\n.*Ann, Zoë$/s)
    expect(audio.inlineData).toEqual({ mimeType: 'audio/mp3', data: request.file.bytes.toString('base64') })
    expect(generationConfig).toMatchObject({ temperature: 0.2, thinkingConfig: { thinkingBudget: 0 } })
  })

  test('of 30 MB is asked for in little time, since the audio is encoded while the body is written', () => {
    const { file } = transcription()
    const bytes = Buffer.alloc(30_000_000, 'audio')
    const request = transcription({ file: { ...file, bytes } })
    let body: SentBody = bytes
    const startedAt = readThreadMs()
    for (let at = 0; at < 10; at++) ({ body } = geminiAudio.encodeTranscription(request, HEARING))
    expect(readThreadMs() - startedAt).toBeLessThan(30)
    expect(sent(body).contents[0].parts[1].inlineData.data === bytes.toString('base64')).toBe(true)
  })

  test('takes at most what was reserved', () => {
    const request = transcription()
    const { tokens } = geminiAudio.maxTranscriptUsage(request)
    const { generationConfig } = sent(geminiAudio.encodeTranscription(request, HEARING).body)
    expect(generationConfig.maxOutputTokens).toBe(tokens.textOutput)
    expect(tokens.audioInput).toBe(32 * 90)
  })

  test('is the text, with its usage as OpenAI reports it', () => {
    const details = [
      { modality: 'TEXT', tokenCount: 10 },
      { modality: 'AUDIO', tokenCount: 32 },
    ]
    const usageMetadata = {
      ...{ promptTokenCount: 42, promptTokensDetails: details, candidatesTokenCount: 5 },
      ...{ thoughtsTokenCount: 2, totalTokenCount: 49 },
    }
    const candidates = [{ content: { parts: [{ text: ' Hello.\n' }] }, finishReason: 'STOP' }]
    const reply = geminiAudio.decodeTranscription({ candidates, usageMetadata }, HEARING)
    expect(reply).toEqual({
      text: 'Hello.',
      body: {
        text: 'Hello.',
        usage: {
          type: 'tokens',
          input_tokens: 42,
          input_token_details: { text_tokens: 10, audio_tokens: 32 },
          output_tokens: 7,
          total_tokens: 49,
        },
      },
      usage: { tokens: { textInput: 10, audioInput: 32, textOutput: 7, audioOutput: 0 } },
    })
  })

  test.each(['MAX_TOKENS', 'SAFETY'])('that ended by %s is none', finishReason => {
    const candidates = [{ content: { parts: [{ text: 'Hel' }] }, finishReason }]
    expect(geminiAudio.decodeTranscription({ candidates }, HEARING)).toBeUndefined()
  })

  test.each([
    ['response_format', { format: 'srt' }],
    ['timestamp_granularities', { rest: { timestamp_granularities: ['word'] } }],
  ] as [string, Partial<TranscriptionRequest>][])('is refused where it needs %s', (param, fields) => {
    const objection = geminiAudio.findTranscriptObjection(transcription(fields), HEARING)
    expect(objection?.param).toBe(param)
    expect(objection?.message).toMatch(`${param}: `)
  })
})

describe('speech by Gemini', () => {
  const samples = Buffer.from([1, 0, 2, 0, 3, 0])
  const answer = (mimeType: string): Buffer =>
    bytesOf({
      candidates: [{ content: { parts: [{ inlineData: { mimeType, data: samples.toString('base64') } }] } }],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 25, totalTokenCount: 29 },
    })

  test('is asked for by the name of a voice, with instructions before the text', () => {
    const request = geminiAudio.encodeSpeech(speech({ instructions: 'Say cheerfully' }), SPEAKING)
    expect(sent(request.body)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Say cheerfully:\nHello' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    })
  })

  const decode = (bytes: Buffer, request: SpeechRequest, json?: JsonObject): SpeechReply | undefined => {
    return runAtOnce(geminiAudio.decodeSpeech({ bytes, contentType: '', json }, request, SPEAKING))
  }
  const parse = (bytes: Buffer): JsonObject => JSON.parse(bytes.toString())

  test('is a WAV file of the rate that it tells, unless samples were asked for', () => {
    const bytes = answer('audio/L16;codec=pcm;rate=16000')
    const wav = decode(bytes, speech(), parse(bytes))
    expect(wav?.format).toBe('wav')
    const file = wav?.audio as Buffer
    expect(findAudioType(file)?.extension).toBe('wav')
    expect(file.readUInt32LE(24)).toBe(16_000)
    expect(file.readUInt32LE(4)).toBe(36 + samples.length)
    expect(file.subarray(44)).toEqual(samples)
    expect(wav?.usage).toEqual({
      tokens: { textInput: 4, audioInput: 0, textOutput: 0, audioOutput: 25 },
    })
    const pcm = decode(bytes, speech({ format: 'pcm' }), parse(bytes))
    expect(pcm).toMatchObject({ audio: samples, format: 'pcm' })
  })

  test('of 64 MiB is decoded and written in steps, and is what it was', () => {
    const data = Buffer.from('AAECAwQF'.repeat(8 * MiB)).toString('latin1')
    const json = { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/L16', data } }] } }] }
    const written: Buffer[] = []
    const longestMs = measureLongestStep(
      (function* (): Generator<void, void> {
        const audio = yield* geminiAudio.decodeSpeech(
          { bytes: samples, contentType: '', json },
          speech(),
          SPEAKING,
        )
        const { bytes } = encodeSpeechReply({ isStream: true }, audio as SpeechReply)
        yield
        for (const piece of toBytePieces(bytes)) {
          written.push(piece)
          yield
        }
      })(),
    )
    expect(longestMs).toBeLessThan(30)
    const [, event = ''] = Buffer.concat(written).toString('latin1').split('data: ', 2)
    const file = Buffer.from(JSON.parse(event.replace(/event: [^]*/, '')).audio, 'base64')
    expect(file.readUInt32LE(40)).toBe(48 * MiB)
    expect(file.subarray(44).equals(Buffer.from(data, 'base64'))).toBe(true)
  })

  test('is none without audio', () => {
    const bytes = bytesOf({ candidates: [{ finishReason: 'OTHER' }] })
    expect(decode(bytes, speech(), parse(bytes))).toBeUndefined()
    expect(decode(bytes, speech())).toBeUndefined()
  })

  test.each([
    ['response_format', { format: 'mp3' }],
    ['speed', { speed: 1.5 }],
    ['voice', { voice: { id: 'v1' } }],
    ['seed', { rest: { seed: 1 } }],
  ] as const)('is refused where it needs %s', (param, fields) => {
    expect(geminiAudio.findSpeechObjection(speech(fields), SPEAKING)?.param).toBe(param)
  })
})
