import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import type { Json } from '@rideau/llm/json/json-value'
import type { Target } from '@rideau/llm/upstream/target'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { oneMicrotask } from '../../http/fairness/batch-in-tick.ts'
import { takeTurn } from '../../http/fairness/sliced-work.ts'
import { readIdempotencyKey } from '../../http/head/read-idempotency-key.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { attemptTargets } from '../attempts/attempt-targets.ts'
import type { AnsweringTarget } from '../edge/answer-headers.ts'
import { reidentify } from '../edge/identify.ts'
import { findFirst, replay } from '../idempotency/replay.ts'
import type { IdentityInput } from '../idempotency/request-identity.ts'
import { type Estimate, openRecord } from '../records/open-record.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteTarget } from '../request/record-fields.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { assertPassThrough } from '../targets/assert-pass-through.ts'
import type { ResolvedTarget, TargetSelection } from '../targets/target-selection.ts'
import { getMeters } from './get-meters.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** A model call with a parsed body. Chat, embeddings, images, audio, rerank and token counts implement its steps. */
export interface ModelCall<P extends ResolvedTarget, T> extends IdentityInput {
  /** The body's `end_user`, not validated yet; see name-end-user.ts. */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  /** False: nothing is billed, so a killed process loses nothing, and an idempotency key has nothing to prevent. */
  readonly isBilled: boolean
  /** Returns the targets to attempt. Throws the fault that refuses all of them. */
  selectTargets(limits: MeterSet): TargetSelection<P>
  /** Reserves what the call may use on all its limits. Throws the fault of the limit that refuses it. */
  reserve(selection: TargetSelection<P>, limits: MeterSet): ReservedCall<P> | Promise<ReservedCall<P>>
  /** Returns the input tokens as the gateway estimates them. */
  countInput(): number
  /** Returns a parameter's name as the caller's format spells it. Absent: as it is. */
  spellParam?(name: string): string
  /** Makes one attempt at one target with one credential. */
  attempt(target: Target, resolved: P): Promise<AttemptResult<T>>
  /** Relays or answers, bills and settles. The record is durable before the last byte is sent. */
  answer(value: T): Promise<void>
}

/** The targets of a call after its limits admitted it. */
export interface ReservedCall<P extends ResolvedTarget> {
  /** Asks the targets for no more than is reserved. */
  readonly selection: TargetSelection<P>
  /** The most that a killed process would have used. undefined: no limit of tokens or money applies. */
  readonly estimate: Estimate | undefined
}

/** Reads and parses the body. `pathModel` is the model in the path, or empty. */
export type ReadModelCall = (
  ctx: IdentifiedContext,
  pathModel: string,
  deps: PipelineDeps,
) => Promise<ModelCall<ResolvedTarget, unknown>>

/**
 * Runs every model call in this order: read and parse, identify again if the body took long, name the end user, select targets, wait for the
 * answer of its idempotency key and identify again if that took long, then replay it, or reserve, attempt, relay or answer, bill and
 * settle. An exception of a step rejects; the edge then answers the request and writes its record.
 */
export async function serveModelCall(
  ctx: IdentifiedContext,
  read: ReadModelCall,
  pathModel: string,
  deps: PipelineDeps,
): Promise<void> {
  const call = await read(ctx, pathModel, deps)
  const identifying = reidentify(ctx, deps)
  if (identifying instanceof Promise) await identifying
  const begun = await begin(ctx, call, deps)
  if (begun !== undefined) await call.answer(begun.value)
}

/**
 * All steps before the answer; undefined: it was a replay. A function of its own, so that the selection, which holds the request's
 * content, does not live as long as a stream.
 */
async function begin(
  ctx: IdentifiedContext,
  call: ModelCall<ResolvedTarget, unknown>,
  deps: PipelineDeps,
): Promise<{ readonly value: unknown } | undefined> {
  const key = call.isBilled ? readIdempotencyKey(ctx.req) : undefined
  // Awaits only actual promises, since most requests take these steps synchronously.
  const naming = nameEndUser(ctx, call.endUser, deps)
  if (naming !== undefined) await naming
  let admitted = ctx.isLong ? await admitLong(ctx, call, deps) : admit(ctx, call, deps)
  if (key !== undefined) {
    const first = await findFirst(ctx, key, call, deps)
    // It may have waited for another request as long as a stream takes.
    if (await reidentify(ctx, deps)) {
      await nameEndUser(ctx, call.endUser, deps)
      admitted = await admitLong(ctx, call, deps)
    }
    if (first !== undefined) {
      await replay(ctx, first, deps)
      return undefined
    }
  }
  ctx.trace?.noteReserving()
  const reserving = call.reserve(admitted.selection, admitted.limits)
  const { selection, estimate } = reserving instanceof Promise ? await reserving : reserving
  ctx.trace?.noteReserved()
  noteTarget(ctx.recordFields, selection.targets[0] as ResolvedTarget)
  if (call.isBilled) openRecord(ctx, estimate, call, deps)
  await oneMicrotask
  const attempt = (target: Target, resolved: ResolvedTarget): Promise<AttemptResult<unknown>> => {
    noteTarget(ctx.recordFields, resolved)
    ctx.recordFields.droppedParams = toDroppedParams(call, resolved)
    return call.attempt(target, resolved)
  }
  // A count of tokens is another route, which may fail or answer without the provider: it says nothing about the target.
  const value = await attemptTargets(ctx, deps, selection, attempt, call.isBilled ? deps.circuits : undefined)
  return { value }
}

interface AdmittedCall<P extends ResolvedTarget> {
  readonly limits: MeterSet
  readonly selection: TargetSelection<P>
}

/** Applies the caller's rights to the call. Throws what refuses it. */
function admit<P extends ResolvedTarget, T>(
  ctx: IdentifiedContext,
  call: ModelCall<P, T>,
  deps: PipelineDeps,
): AdmittedCall<P> {
  assertPassThrough(ctx, call.findings)
  const limits = getMeters(ctx, deps)
  return { limits, selection: call.selectTargets(limits) }
}

/** Does as `admit`, and lets other requests have the event loop before and after: each step of a long body may take tens of milliseconds. */
async function admitLong<P extends ResolvedTarget, T>(
  ctx: IdentifiedContext,
  call: ModelCall<P, T>,
  deps: PipelineDeps,
): Promise<AdmittedCall<P>> {
  await takeTurn(ctx)
  const admitted = admit(ctx, call, deps)
  await takeTurn(ctx)
  return admitted
}

/** The parameters that the target's request leaves out, as the caller spells them; null: none. */
function toDroppedParams(
  call: Pick<ModelCall<ResolvedTarget, unknown>, 'spellParam'>,
  { dropped = [] }: AnsweringTarget,
): readonly string[] | null {
  if (dropped.length === 0) return null
  // What a caller sent may be named here, so the record keeps a bounded part of it.
  return dropped.slice(0, MAX_DROPPED).map(name => (call.spellParam?.(name) ?? name).slice(0, MAX_NAME_CHARS))
}

const MAX_DROPPED = 32
const MAX_NAME_CHARS = 64
