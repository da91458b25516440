import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { type CapacityShare, openCapacity, openShare } from '../../core/admission/fair-share.ts'
import { Fault } from '../../core/fault.ts'
import type { Log } from '../../core/log.ts'
import { UNKNOWN_OWNER } from '../../http/fairness/loop-turns.ts'
import { type AnswerScope, type UnreadAnswer, UnreadAnswers } from '../../http/fairness/unread-answers.ts'
import type { GrantedAccess } from './granted-access.ts'
import { toOwner } from './map-in-slices.ts'

/** Bytes of answers that may wait in memory to be read by the callers of the control plane. */
const ANSWER_BYTES = 128 * 1024 * 1024
/** What a caller that holds nothing may hold, if there is room at all. */
const MIN_BYTES = 4 * 1024 * 1024
/** Answers up to this size are bounded by the number of connections. */
const FREE_BYTES = 64 * 1024
/** How many times what is free an organization may hold, and of that one of its callers. See fair-share.ts. */
const ORGANIZATION_FACTOR = 3
const CALLER_FACTOR = 2
const RETRY_SECONDS = 1

interface CapacityEntry {
  readonly key: string
  readonly share: CapacityShare
  /** The calls that hold something of it, or the callers. */
  users: number
}

interface CallerShare extends CapacityEntry, AnswerScope {
  readonly tenant: CapacityEntry
}

/**
 * Bounds the bytes of answers that the control plane has made and that their callers have not read, with a fair share for each
 * organization and each of its callers. Who leaves more unread is disconnected from what waits longest.
 */
export class ControlAnswers {
  readonly #all: CapacityShare
  readonly #unread: UnreadAnswers
  readonly #tenants = new Map<string, CapacityEntry>()
  readonly #callers = new Map<string, CallerShare>()
  readonly #calls = new WeakMap<FastifyRequest, AnswerMemory>()

  constructor(log: Pick<Log, 'warn'>, answerBytes: number = ANSWER_BYTES) {
    this.#all = openCapacity(answerBytes, MIN_BYTES)
    this.#unread = new UnreadAnswers(log)
  }

  /** Bytes that wait to be read. */
  get held(): number {
    return this.#all.used
  }

  /** Answers whose callers were disconnected. */
  get dropped(): number {
    return this.#unread.dropped
  }

  /** Opens the memory of a call's answer, which counts as one of `address` until it is named. */
  open(request: FastifyRequest, address: string, res: ServerResponse): void {
    this.#calls.set(request, new CallAnswer(this, address, res))
  }

  /** Returns what `open` opened; undefined for what is no HTTP. */
  find(request: FastifyRequest): AnswerMemory | undefined {
    return this.#calls.get(request)
  }

  /** Holds an answer of a caller. Returns its share, undefined if it has no room. */
  add(tenant: string, caller: string, answer: UnreadAnswer): CallerShare | undefined {
    const share = this.#enter(tenant, caller)
    if (this.#unread.add(share, answer)) return share
    this.#leave(share)
    return undefined
  }

  remove(share: CallerShare, answer: UnreadAnswer): void {
    this.#unread.remove(share, answer)
    this.#leave(share)
  }

  #enter(tenantKey: string, callerKey: string): CallerShare {
    const key = `${tenantKey}\n${callerKey}`
    let caller = this.#callers.get(key)
    if (caller === undefined) {
      const tenant = this.#enterTenant(tenantKey)
      const share = openShare(tenant.share, CALLER_FACTOR)
      caller = { key, share, answers: share, logName: tenantKey, tenant, users: 0 }
      this.#callers.set(key, caller)
    }
    caller.users++
    return caller
  }

  #enterTenant(key: string): CapacityEntry {
    let tenant = this.#tenants.get(key)
    if (tenant === undefined) {
      tenant = { key, share: openShare(this.#all, ORGANIZATION_FACTOR), users: 0 }
      this.#tenants.set(key, tenant)
    }
    tenant.users++
    return tenant
  }

  /** Removes a user of the caller's share, and forgets the share once it has none. */
  #leave(caller: CallerShare): void {
    if (--caller.users > 0) return
    this.#callers.delete(caller.key)
    if (--caller.tenant.users === 0) this.#tenants.delete(caller.tenant.key)
  }
}

/** The memory of one call's answer. */
export interface AnswerMemory {
  /** For whom long work is done; unknown until `name` is called. */
  readonly owner: ShareOwner
  /** Names whose answer it is, before it holds anything. */
  name(granted: GrantedAccess): void
  /**
   * Holds bytes that are about to be written, until the caller has them or its connection is closed. Returns the fault to answer if
   * there is no room for them. One answer holds one piece at a time.
   */
  acquire(bytes: number): Fault | undefined
  /** Resolves with true once the caller has taken what was written, with false if it is gone. */
  taken(): Promise<boolean>
}

class CallAnswer implements AnswerMemory, UnreadAnswer {
  unreadBytes = 0
  owner = UNKNOWN_OWNER
  readonly #answers: ControlAnswers
  readonly #res: ServerResponse
  #tenant: string
  #caller: string
  #share: CallerShare | undefined

  constructor(answers: ControlAnswers, address: string, res: ServerResponse) {
    this.#answers = answers
    this.#res = res
    this.#tenant = `address ${address}`
    this.#caller = ''
  }

  name({ actor, orgId }: GrantedAccess): void {
    if (actor === undefined) return
    this.owner = toOwner(orgId, actor.id)
    this.#caller = `caller ${actor.id}`
    this.#tenant = orgId === undefined ? this.#caller : `organization ${orgId}`
  }

  acquire(bytes: number): Fault | undefined {
    this.#release()
    // No event follows on a connection that is closed already.
    if (bytes <= FREE_BYTES || this.#isGone()) return undefined
    this.unreadBytes = bytes
    this.#share = this.#answers.add(this.#tenant, this.#caller, this)
    if (this.#share === undefined) {
      this.unreadBytes = 0
      const message = 'This organization leaves too many bytes of answers unread.'
      return new Fault('control_rate_limit_exceeded', message, { retryAfterSeconds: RETRY_SECONDS })
    }
    this.#res.once('close', this.#release)
    onceClosed(this.#res.req.socket, this.#release)
    return undefined
  }

  async taken(): Promise<boolean> {
    // A stream writes what it was given in the tick in which it asks for more.
    await setImmediate()
    if (this.#res.writableNeedDrain && !this.#isGone()) await this.#drainOrClose()
    this.#release()
    return !this.#isGone()
  }

  drop(): void {
    // Resets it: the kernel would go on offering what it has to the caller.
    this.#res.req.socket.resetAndDestroy()
    this.#release()
  }

  #drainOrClose(): Promise<void> {
    const { req } = this.#res
    return new Promise(resolve => {
      const end = (): void => {
        this.#res.off('drain', end).off('close', end)
        offClosed(req.socket, end)
        resolve()
      }
      this.#res.on('drain', end).on('close', end)
      onceClosed(req.socket, end)
    })
  }

  #isGone(): boolean {
    return this.#res.destroyed || this.#res.req.socket.destroyed
  }

  readonly #release = (): void => {
    const share = this.#share
    if (share === undefined) return
    this.#share = undefined
    this.#res.off('close', this.#release)
    offClosed(this.#res.req.socket, this.#release)
    this.#answers.remove(share, this)
    this.unreadBytes = 0
  }
}

/** What waits for the end of a connection. One listener serves all calls that were sent over it at once. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/** 'close' of a response does not fire for a pipelined call whose connection closed, that of the socket does. */
function onceClosed(socket: Socket, notify: () => void): void {
  const known = waiting.get(socket)
  if (known !== undefined) return void known.add(notify)
  const all = new Set([notify])
  waiting.set(socket, all)
  socket.once('close', () => {
    for (const notifyOne of [...all]) notifyOne()
  })
}

function offClosed(socket: Socket, notify: () => void): void {
  waiting.get(socket)?.delete(notify)
}
