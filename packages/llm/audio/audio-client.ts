import type { JsonObject } from '../json/json-value.ts'
import type { Target } from '../upstream/target.ts'
import type { UpstreamRequest } from '../upstream/upstream-request.ts'
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

/** The client side of a provider's audio format. Pure. */
export interface AudioClient {
  /** undefined: the model can make such a transcript. */
  findTranscriptObjection(request: TranscriptionRequest, target: Model): AudioObjection | undefined
  /** The most that the transcript may use. */
  maxTranscriptUsage(request: TranscriptionRequest): AudioUsageBounds
  encodeTranscription(request: TranscriptionRequest, target: Target): UpstreamRequest
  /** undefined: the answer has no text. */
  decodeTranscription(body: JsonObject, target: Target): TranscriptionReply | undefined
  /** undefined: the model can speak so. */
  findSpeechObjection(request: SpeechRequest, target: Model): AudioObjection | undefined
  /** The most that the speech may use. */
  maxSpeechUsage(request: SpeechRequest): AudioUsageBounds
  encodeSpeech(request: SpeechRequest, target: Target): UpstreamRequest
  /** undefined: the answer has no audio. */
  decodeSpeech(
    bytes: Buffer,
    contentType: string,
    request: SpeechRequest,
    target: Model,
  ): SpeechReply | undefined
}
