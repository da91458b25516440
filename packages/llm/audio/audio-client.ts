import type { JsonObject } from '../json/json-value.ts'
import type { Target } from '../upstream/target.ts'
import type { EncodedRequest } from '../upstream/upstream-request.ts'
import type {
  AudioUsageBounds,
  SpeechReply,
  SpeechRequest,
  TranscriptionReply,
  TranscriptionRequest,
} from './audio-format.ts'

type Model = Pick<Target, 'provider' | 'model'>

/** Why a model cannot serve what was asked. */
export interface AudioObjection {
  readonly param: string
  /** Begins with the parameter. */
  readonly message: string
}

/** What a provider answered to a request for speech. */
export interface SpeechAnswer {
  readonly bytes: Buffer
  readonly contentType: string
  /** The parsed answer of a provider that speaks JSON; undefined: it is none. */
  readonly json?: JsonObject | undefined
}

/** The client side of a provider's audio format. Pure. */
export interface AudioClient {
  /** undefined: the model can make such a transcript. */
  findTranscriptObjection(request: TranscriptionRequest, target: Model): AudioObjection | undefined
  /** The most that the transcript may use. */
  maxTranscriptUsage(request: TranscriptionRequest): AudioUsageBounds
  encodeTranscription(request: TranscriptionRequest, target: Target): EncodedRequest
  /** undefined: the answer has no text. */
  decodeTranscription(body: JsonObject, target: Target): TranscriptionReply | undefined
  /** undefined: the model can speak so. */
  findSpeechObjection(request: SpeechRequest, target: Model): AudioObjection | undefined
  /** The most that the speech may use. */
  maxSpeechUsage(request: SpeechRequest): AudioUsageBounds
  encodeSpeech(request: SpeechRequest, target: Target): EncodedRequest
  /** The answer to a request for speech is JSON with the audio in it. Absent: the audio itself, or events. */
  readonly speaksJson?: true
  /** Returns undefined if the answer has no audio. Yields between pieces of the work, which may take long. */
  decodeSpeech(
    answer: SpeechAnswer,
    request: SpeechRequest,
    target: Model,
  ): Generator<void, SpeechReply | undefined>
}
