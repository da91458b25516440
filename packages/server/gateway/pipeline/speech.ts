import type { AudioClient, AudioObjection } from '@rideau/llm/audio/audio-client'
import type { SpeechReply, SpeechRequest } from '@rideau/llm/audio/audio-format'
import { countCharacters } from '@rideau/llm/audio/audio-pricing'
import { encodeSpeechReply } from '@rideau/llm/audio/encode-speech'
import type { EncodedAudio } from '@rideau/llm/audio/encode-transcript'
import { findUnreadSpeechField, parseSpeech } from '@rideau/llm/audio/parse-speech'
import { BODY_LIMIT_BYTES } from '@rideau/llm/json/body-bounds'
import { type Json, type JsonObject, toObject } from '@rideau/llm/json/json-value'
import type { Target } from '@rideau/llm/upstream/target'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { attemptAudio } from '../attempts/attempt-audio.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import type { AudioBounds } from '../billing/audio-amounts.ts'
import { noteModel } from '../request/note-model.ts'
import { noteUser } from '../request/note-user.ts'
import { readJson } from '../request/read-json.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { AudioTarget } from '../targets/select-audio-targets.ts'
import type { ResolvedTarget } from '../targets/target-selection.ts'
import { AudioCall, type AudioTask, clientOf } from './audio-call.ts'
import type { ReadModelCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** Serves `POST {openai prefix}/v1/audio/speech`. */
export const readSpeech: ReadModelCall = async (ctx, _pathModel, deps) => {
  const { value, bytes } = await readJson(ctx, BODY_LIMIT_BYTES, deps.bodyTimeoutMs)
  ctx.recordFields.requestBody = bytes
  noteModel(ctx.recordFields, value.model)
  const request = parseSpeech(value)
  noteUser(ctx.recordFields, typeof value.user === 'string' ? value.user : undefined)
  return new AudioCall(ctx, new Speech(ctx, request, value, deps), deps)
}

class Speech implements AudioTask<SpeechReply> {
  readonly capability = 'speech'
  readonly files = undefined
  readonly endUser: Json | undefined
  readonly findings: { readonly stored: undefined; readonly passedOn: string | undefined }
  readonly #ctx: IdentifiedContext
  readonly #request: SpeechRequest
  readonly #deps: PipelineDeps

  constructor(ctx: IdentifiedContext, request: SpeechRequest, body: JsonObject, deps: PipelineDeps) {
    this.endUser = body.end_user
    this.findings = { stored: undefined, passedOn: findUnreadSpeechField(body) }
    this.#ctx = ctx
    this.#request = request
    this.#deps = deps
  }

  get model(): string {
    return this.#request.model
  }

  maxAt(client: AudioClient): AudioBounds {
    const usage = client.maxSpeechUsage(this.#request)
    return { usage, characters: countCharacters(this.#request.input) }
  }

  findObjection(target: ResolvedTarget): AudioObjection | undefined {
    return clientOf(target.provider).findSpeechObjection(this.#request, target)
  }

  attempt(target: Target, resolved: AudioTarget): Promise<AttemptResult<SpeechReply>> {
    const client = clientOf(target.provider)
    const request = client.encodeSpeech(this.#request, target)
    return attemptAudio(
      {
        ...{ ctx: this.#ctx, target, resolved, request, isBinary: client.speaksJson !== true },
        decode: ({ bytes, readHeaders, json }) => {
          const contentType = String(readHeaders()['content-type'] ?? '')
          const answer = { bytes, contentType, json: toObject(json?.value as Json | undefined) }
          // To its end though the caller may have left, since the usage that it tells is billed.
          return runSteps(client.decodeSpeech(answer, this.#request, target), this.#ctx)
        },
      },
      this.#deps,
    )
  }

  encode(reply: SpeechReply): EncodedAudio {
    return encodeSpeechReply(this.#request, reply)
  }
}
