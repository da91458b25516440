import type { Findings } from '@rideau/llm/formats/shared/findings'
import type { Json } from '@rideau/llm/json/json-value'
import type { Target } from '@rideau/llm/upstream/target'
import type { MeterSet } from '../../core/list-meters.ts'
import { oneMicrotask } from '../../http/batch-in-tick.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { assertPassThrough } from '../plan/assert-pass-through.ts'
import type { CallPlan, ResolvedTarget } from '../plan/call-plan.ts'
import { type Estimate, openRecord } from '../records/open-record.ts'
import { nameEndUser } from '../request/name-end-user.ts'
import { noteTarget } from '../request/record-fields.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { findLimits } from './find-limits.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** A call of a model whose body is parsed: the steps that chat, embeddings, images and token counts each take in their own way. */
export interface ModelCall<P extends ResolvedTarget, T> {
  /** As the body names it, not checked yet; see name-end-user.ts. */
  readonly endUser: Json | undefined
  readonly findings: Pick<Findings, 'stored' | 'passedOn'>
  /** False: nothing is billed, so a killed process loses nothing. */
  readonly isBilled: boolean
  /** Decides which targets are tried. Throws what refuses all of them. */
  plan(limits: MeterSet): CallPlan<P>
  /** Reserves in every limit what the call may use. Throws the limit that refuses it. */
  reserve(plan: CallPlan<P>, limits: MeterSet): Reserved<P> | Promise<Reserved<P>>
  /** Input tokens as the gateway counts them. */
  countInput(): number
  /** One attempt at one target with one credential. */
  attempt(target: Target, planned: P): Promise<AttemptResult<T>>
  /** Relays or answers, bills, settles: the record is durable before the last byte leaves. */
  answer(value: T): Promise<void>
}

/** What a call may use, once its limits granted it. */
export interface Reserved<P extends ResolvedTarget> {
  /** Its targets are asked for no more than is reserved. */
  readonly plan: CallPlan<P>
  /** What a killed process would have used at most; undefined: no limit of tokens or money concerns the call. */
  readonly estimate: Estimate | undefined
}

/** Reads and parses the body. `pathModel`: the model where the path names it, else empty. */
export type ReadCall = (
  ctx: IdentifiedContext,
  pathModel: string,
  deps: PipelineDeps,
) => Promise<ModelCall<ResolvedTarget, unknown>>

/**
 * The order of every model call: read and parse, name the end user, plan, reserve, attempt, then relay or answer, bill and
 * settle. What a step throws ends the request at the edge, which writes the record of a failed one.
 */
export async function serveModelCall(
  ctx: IdentifiedContext,
  read: ReadCall,
  pathModel: string,
  deps: PipelineDeps,
): Promise<void> {
  const call = await read(ctx, pathModel, deps)
  // Promises are awaited only where there are any: most requests take these steps in one go.
  const naming = nameEndUser(ctx, call.endUser, deps)
  if (naming !== undefined) await naming
  assertPassThrough(ctx.caller, ctx.environment, call.findings)
  const limits = findLimits(ctx, deps)
  const reserving = call.reserve(call.plan(limits), limits)
  const { plan, estimate } = reserving instanceof Promise ? await reserving : reserving
  noteTarget(ctx.recordFields, plan.targets[0] as ResolvedTarget)
  if (call.isBilled) openRecord(ctx, estimate, call, deps)
  await oneMicrotask
  const value = await callTargets(ctx, deps, plan, (target, planned) => {
    noteTarget(ctx.recordFields, planned)
    return call.attempt(target, planned)
  })
  await call.answer(value)
}
