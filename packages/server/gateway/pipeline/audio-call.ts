import type { AudioClient, AudioObjection } from '@rideau/llm/audio/audio-client'
import type { AudioUsage } from '@rideau/llm/audio/audio-format'
import type { EncodedAudio } from '@rideau/llm/audio/encode-transcript'
import { getAudioClient } from '@rideau/llm/audio/get-audio-client'
import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import type { Json } from '@rideau/llm/json/json-value'
import type { Provider } from '@rideau/llm/provider/provider'
import type { Target } from '@rideau/llm/upstream/target'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import {
  type AudioBounds,
  toAbandonedAudioBill,
  toAudioBill,
  toReservedAudioAmounts,
} from '../billing/audio-amounts.ts'
import { answerHeaders } from '../edge/answer-headers.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { type AudioTarget, selectAudioTargets } from '../targets/select-audio-targets.ts'
import type { ResolvedTarget, TargetSelection } from '../targets/target-selection.ts'
import type { ModelCall, ReservedCall } from './model-call.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import { isSandboxOnly, reserveAmounts } from './reserve-amounts.ts'
import { sendAnswer } from './send-answer.ts'

/** What a route of audio reads and answers; the rest of the call is the same for all of them. */
export interface AudioTask<Reply extends { readonly usage: AudioUsage }> {
  /** As the caller named the model. */
  readonly model: string
  readonly capability: 'transcription' | 'speech'
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  readonly files: readonly Buffer[] | undefined
  /** The most that it may use at a target of this client. */
  maxAt(client: AudioClient): AudioBounds
  findObjection(target: ResolvedTarget): AudioObjection | undefined
  attempt(target: Target, resolved: AudioTarget): Promise<AttemptResult<Reply>>
  encode(reply: Reply): EncodedAudio
}

/** Of a provider that a selection has accepted for audio. */
export function clientOf({ audio }: Provider): AudioClient {
  if (audio === undefined) throw new Error('a target without audio was resolved')
  return getAudioClient(audio)
}

interface AnsweredAudio<Reply> {
  readonly reply: Reply
  readonly target: AudioTarget
}

export class AudioCall<Reply extends { readonly usage: AudioUsage }>
  implements ModelCall<AudioTarget, AnsweredAudio<Reply>>
{
  readonly isBilled = true
  readonly #ctx: IdentifiedContext
  readonly #task: AudioTask<Reply>
  readonly #deps: PipelineDeps
  /** Each target of an alias asks for the tokens of the same prompt, which take up to a millisecond. */
  readonly #most = new Map<AudioClient, AudioBounds>()
  #inputTokens = 0

  constructor(ctx: IdentifiedContext, task: AudioTask<Reply>, deps: PipelineDeps) {
    this.#ctx = ctx
    this.#task = task
    this.#deps = deps
  }

  get endUser(): Json | undefined {
    return this.#task.endUser
  }

  get findings(): Pick<Findings, 'stored' | 'passedOn'> {
    return this.#task.findings
  }

  get files(): readonly Buffer[] | undefined {
    return this.#task.files
  }

  countInput(): number {
    return this.#inputTokens
  }

  selectTargets(limits: MeterSet): TargetSelection<AudioTarget> {
    const { caller, environment, route } = this.#ctx
    const { mount } = route
    const task = this.#task
    const { model, capability } = task
    return selectAudioTargets(
      {
        ...{ model, capability, caller, environment, limits, mount },
        maxAt: target => this.#maxAt(target),
        findObjection: target => task.findObjection(target),
      },
      this.#deps,
    )
  }

  /** Reserves the maximum, since the answer cannot be cut. */
  reserve(
    selection: TargetSelection<AudioTarget>,
    limits: MeterSet,
  ): ReservedCall<AudioTarget> | Promise<ReservedCall<AudioTarget>> {
    const most = selection.targets.map(target => ({ ...target, most: this.#maxAt(target) }))
    const amounts = toReservedAudioAmounts(most)
    const input = most.map(({ most: { usage } }) => usage.tokens.textInput + usage.tokens.audioInput)
    this.#inputTokens = Math.min(amounts.tokens, Math.max(...input))
    const inputTokens = this.#inputTokens
    const estimate = limits.hasAmountMeter
      ? { inputTokens, outputTokens: amounts.tokens - inputTokens }
      : undefined
    const reserved = { selection, estimate }
    const request = { limits, isSandbox: isSandboxOnly(selection), amounts }
    return reserveAmounts(this.#ctx, this.#deps, request)?.then(() => reserved) ?? reserved
  }

  #maxAt({ provider }: ResolvedTarget): AudioBounds {
    const client = clientOf(provider)
    const most = this.#most.get(client) ?? this.#task.maxAt(client)
    this.#most.set(client, most)
    return most
  }

  async attempt(target: Target, resolved: AudioTarget): Promise<AttemptResult<AnsweredAudio<Reply>>> {
    const result = await this.#task.attempt(target, resolved)
    if (result.ok) return { ...result, value: { reply: result.value, target: resolved } }
    if (result.charge === undefined) return result
    return { ...result, bill: toAbandonedAudioBill(this.#maxAt(resolved), resolved) }
  }

  async answer({ reply, target }: AnsweredAudio<Reply>): Promise<void> {
    const bill = toAudioBill(reply.usage, this.#maxAt(target), target)
    this.#ctx.recordFields.answered = bill
    const { contentType, bytes } = this.#task.encode(reply)
    const headers = answerHeaders(this.#ctx, target, contentType, this.#deps)
    const outcome = { status: 200, bill, finishReason: 'stop' }
    const isText = this.#task.capability === 'transcription'
    await sendAnswer(this.#ctx, bytes, { headers, outcome, isText }, this.#deps)
  }
}
