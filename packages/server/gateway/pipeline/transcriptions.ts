import type { AudioClient, AudioObjection } from '@rideau/llm/audio/audio-client'
import type { TranscriptionReply, TranscriptionRequest } from '@rideau/llm/audio/audio-format'
import { type EncodedAudio, encodeTranscript } from '@rideau/llm/audio/encode-transcript'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { Target } from '@rideau/llm/upstream/target'
import { attemptAudio } from '../attempts/attempt-audio.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import type { AudioBounds } from '../billing/audio-amounts.ts'
import { noteUser } from '../request/note-user.ts'
import { type ParsedTranscription, readTranscriptionBody } from '../request/read-transcription-body.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { AudioTarget } from '../targets/select-audio-targets.ts'
import type { ResolvedTarget } from '../targets/target-selection.ts'
import { AudioCall, type AudioTask, clientOf } from './audio-call.ts'
import type { ReadModelCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** Serves `POST {openai prefix}/v1/audio/transcriptions` and `/translations`. */
export function readTranscription(task: TranscriptionRequest['task']): ReadModelCall {
  return async (ctx, _pathModel, deps) => {
    const parsed = await readTranscriptionBody(ctx, task, deps.bodyTimeoutMs)
    noteUser(ctx.recordFields, parsed.user)
    return new AudioCall(ctx, new Transcription(ctx, parsed, deps), deps)
  }
}

class Transcription implements AudioTask<TranscriptionReply> {
  readonly capability = 'transcription'
  readonly endUser: ParsedTranscription['endUser']
  readonly findings: { readonly stored: undefined; readonly passedOn: string | undefined }
  readonly files: readonly Buffer[]
  readonly #ctx: IdentifiedContext
  readonly #request: TranscriptionRequest
  readonly #deps: PipelineDeps

  constructor(
    ctx: IdentifiedContext,
    { request, endUser, passedOn }: ParsedTranscription,
    deps: PipelineDeps,
  ) {
    this.endUser = endUser
    this.findings = { stored: undefined, passedOn }
    this.files = [request.file.bytes]
    this.#ctx = ctx
    this.#request = request
    this.#deps = deps
  }

  get model(): string {
    return this.#request.model
  }

  maxAt(client: AudioClient): AudioBounds {
    return { usage: client.maxTranscriptUsage(this.#request), characters: 0 }
  }

  findObjection(target: ResolvedTarget): AudioObjection | undefined {
    return clientOf(target.provider).findTranscriptObjection(this.#request, target)
  }

  attempt(target: Target, resolved: AudioTarget): Promise<AttemptResult<TranscriptionReply>> {
    const client = clientOf(target.provider)
    const request = client.encodeTranscription(this.#request, target)
    return attemptAudio(
      {
        ...{ ctx: this.#ctx, target, resolved, request, isBinary: false },
        decode: ({ json }) => {
          const body = json?.value
          return typeof body === 'object' && body !== null
            ? client.decodeTranscription(body as JsonObject, target)
            : undefined
        },
      },
      this.#deps,
    )
  }

  encode(reply: TranscriptionReply): EncodedAudio {
    return encodeTranscript(this.#request, reply)
  }
}
