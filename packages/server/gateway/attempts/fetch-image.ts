import { setTimeout as delay } from 'node:timers/promises'
import { invalid } from '@rideau/llm/formats/shared/reading/read-fields'
import { findImageType } from '@rideau/llm/images/image-type'
import { parseUrl } from '@rideau/llm/request/bounded-url'
import type { Fault } from '../../core/fault.ts'
import { chargeLookupsTo, type EgressPolicy } from '../../http/egress/egress.ts'
import { type GuardedAnswer, guardedRequest } from '../../http/egress/guarded-request.ts'
import { findFormObjection } from '../../http/egress/outgoing-url.ts'
import type { RequestContext } from '../request/request-context.ts'
import { waitFor } from '../request/wait-for.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { FetchTimes } from './fetch-times.ts'

const MAX_REDIRECTS = 3
/** Longer than any server takes. */
const MAX_ADDRESS = 8192

export type FetchImageDeps = Pick<AttemptDeps, 'callerEgress' | 'fetchTimes'>

/** An image that was fetched for a request. */
export interface FetchedImage<T> {
  /** What stands in a body for it. */
  readonly content: T
  readonly bytes: number
  /** How many times its bytes count as part of the request's body. */
  uses: number
}

/** Fetches the images that a caller names. */
export interface ImageFetcher {
  /** Fetches the image at an address. Throws `invalid_request` with `param`. */
  fetch(address: string, param: string, maxBytes: number): Promise<Buffer>
  /** Counts bytes of a fetched image once more. Throws `concurrency_limit_exceeded` if there is no room for them. */
  acquire(bytes: number): void
  /** The fault of `fetch`, whatever its reason is. */
  unavailable(param: string): Error
}

/**
 * Waits for `work`, which fetches images for a request. Its fetches end when the request is stopped. What they fetch counts as part of the
 * request's body: throws `concurrency_limit_exceeded` if there is no room for it.
 */
export async function runFetches(
  ctx: RequestContext,
  deps: FetchImageDeps,
  work: (images: ImageFetcher) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  /** Why there is no room for more. */
  let full: Fault | undefined
  const fetcher: Fetcher = {
    policy: chargeLookupsTo(deps.callerEgress, ctx),
    times: deps.fetchTimes,
    signal: stop.signal,
    accept: bytes => {
      // The request may have ended, and with it the permit that would give the bytes back.
      if (stop.signal.aborted) return false
      full ??= ctx.permit?.acquire(bytes)
      return full === undefined
    },
  }
  const images: ImageFetcher = {
    fetch: async (...image) => {
      const bytes = await fetchImage(fetcher, ...image)
      if (full !== undefined) throw full
      return bytes
    },
    acquire: bytes => {
      if (!fetcher.accept(bytes)) throw full ?? new Error('the request ended before its images were fetched')
    },
    unavailable: param => unavailable(param, fetcher.times),
  }
  try {
    await waitFor(ctx, work(images))
  } catch (error) {
    throw full ?? error
  } finally {
    stop.abort()
  }
}

interface Fetcher {
  /** Counts bytes as part of the request's body; false: there is no room for them. */
  readonly accept: (bytes: number) => boolean
  readonly policy: EgressPolicy
  readonly times: FetchTimes
  readonly signal: AbortSignal
}

/**
 * Every failure has the same message and is answered at the same time: a caller must not learn which names, addresses and
 * ports exist where the gateway runs. The connection is closed and the lookup's slot is free while the failure waits.
 */
async function fetchImage(
  fetcher: Fetcher,
  address: string,
  param: string,
  maxBytes: number,
): Promise<Buffer> {
  const { policy, times, signal } = fetcher
  // The form of the address tells nothing about the network.
  if (address.length > MAX_ADDRESS) throw invalid(param, `must have at most ${MAX_ADDRESS} characters.`)
  const objection = findFormObjection(address, policy)
  if (objection !== undefined) throw invalid(param, `${objection}.`)
  const startedAt = performance.now()
  const bytes = await tryFetch(fetcher, address, maxBytes, startedAt + times.timeoutMs)
  if (bytes !== undefined) return bytes
  const waitMs = startedAt + times.failureMs - performance.now()
  await delay(Math.max(0, waitMs), undefined, { signal }).catch(() => {})
  throw unavailable(param, times)
}

function unavailable(param: string, { timeoutMs }: FetchTimes): Error {
  return invalid(
    param,
    `could not be fetched: it must lead to an image of a known type within ${timeoutMs} ms and ${MAX_REDIRECTS} redirects; all images of a request may have 20 MiB, one that is named twice counts twice.`,
  )
}

/** Returns the image, or undefined if it cannot be fetched. Every redirect is checked like the first address. */
async function tryFetch(
  { policy, signal, accept }: Fetcher,
  address: string,
  maxBytes: number,
  deadline: number,
): Promise<Buffer | undefined> {
  let url = address
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (findFormObjection(url, policy) !== undefined) return undefined
    const answer = await guardedRequest(url, {
      headers: { accept: 'image/*', 'user-agent': 'rideau' },
      policy,
      timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
      signal,
      maxBytes,
      accept,
    })
    if (!answer.ok) return undefined
    const next = findRedirect(answer, url)
    if (next === undefined) return isImage(answer) ? answer.body : undefined
    url = next
  }
  return undefined
}

type GuardedSuccess = Extract<GuardedAnswer, { ok: true }>

function findRedirect({ status, location }: GuardedSuccess, from: string): string | undefined {
  const next = status < 300 || status >= 400 ? undefined : parseUrl(location, parseUrl(from))
  if (next === undefined) return undefined
  next.hash = ''
  return next.href
}

function isImage({ isCut, status, body }: GuardedSuccess): boolean {
  return !isCut && status === 200 && findImageType(body) !== undefined
}
