import { toBase64Json } from '../json/base64.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { SpeechFormat, SpeechReply, SpeechRequest } from './audio-format.ts'
import { type EncodedAudio, EVENT_STREAM, toEvents } from './encode-transcript.ts'

const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** Returns the audio as its caller wants it: its bytes, or events. */
export function encodeSpeechReply(
  { isStream }: Pick<SpeechRequest, 'isStream'>,
  { audio, format, usage }: SpeechReply,
): EncodedAudio {
  if (!isStream) return { contentType: MEDIA_TYPES[format], bytes: audio }
  const { tokens } = usage
  const input = (tokens?.textInput ?? 0) + (tokens?.audioInput ?? 0)
  const output = tokens?.audioOutput ?? 0
  const counted = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  const events: JsonObject[] = [
    { type: 'speech.audio.delta', audio: toBase64Json(audio) },
    { type: 'speech.audio.done', ...(tokens === undefined ? {} : { usage: counted }) },
  ]
  return { contentType: EVENT_STREAM, bytes: toEvents(events) }
}
