import type { Json, JsonObject } from '../json/json-value.ts'
import type { SentBody } from '../json/unwritten-json.ts'
import type { AudioType } from './audio-type.ts'

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

export interface AudioFile {
  readonly bytes: Buffer
  readonly type: AudioType
}

/** A file whose length was measured once (audio-length.ts), since each of twenty targets may ask for it several times. */
export interface MeasuredAudioFile extends AudioFile {
  /** The most that it can have. */
  readonly seconds: number
}

/** A request for a transcript whose file was not measured yet. */
export interface UnmeasuredTranscription extends Omit<TranscriptionRequest, 'file'> {
  readonly file: AudioFile
}

/** One request for a transcript, or for a translation into English, as the gateway understands it. */
export interface TranscriptionRequest {
  readonly task: 'transcriptions' | 'translations'
  /** The model's name in the request: `provider/model`, an alias or a bare name. */
  readonly model: string
  readonly file: MeasuredAudioFile
  readonly format: TranscriptFormat
  /** The caller wants the answer as events. */
  readonly isStream: boolean
  readonly prompt: string | undefined
  /** All other fields, in OpenAI's words. Lists are sent as fields of the form that end in `[]`. */
  readonly rest: JsonObject
}

export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type SpeechFormat = (typeof SPEECH_FORMATS)[number]

/** One text to speak. */
export interface SpeechRequest {
  readonly model: string
  readonly input: string
  readonly voice: Json
  readonly instructions: string | undefined
  /** undefined: the provider chooses. */
  readonly format: SpeechFormat | undefined
  /** 1 is the usual pace. */
  readonly speed: number
  /** The caller wants the answer as events. */
  readonly isStream: boolean
  readonly rest: JsonObject
}

/** What audio is paid by. What a provider does not report is undefined. */
export interface AudioUsage {
  /** The length of the audio that was transcribed. */
  readonly seconds?: number | undefined
  readonly tokens?: AudioTokens | undefined
}

/** The most of both, by which a request is reserved. */
export interface AudioUsageBounds {
  readonly seconds: number
  readonly tokens: AudioTokens
}

export interface AudioTokens {
  readonly textInput: number
  readonly audioInput: number
  readonly textOutput: number
  readonly audioOutput: number
}

export interface TranscriptionReply {
  readonly text: string
  /** The whole answer, in the format that the provider was asked for. */
  readonly body: JsonObject
  readonly usage: AudioUsage
}

export interface SpeechReply {
  readonly audio: SentBody
  readonly format: SpeechFormat
  readonly usage: AudioUsage
}
