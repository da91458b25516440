import type { ServerResponse } from 'node:http'
import { Fault } from '../../core/fault.ts'
import type { BodyMemory } from '../../http/body/body-memory.ts'
import { AddressShares } from '../../http/fairness/address-shares.ts'

/** Bytes of bodies that the control plane has in memory at once. */
const BODY_BYTES = 64 * 1024 * 1024
/** What an address that holds nothing may hold, if there is room at all. */
const MIN_BYTES = 64 * 1024

/** Bounds the bytes of all bodies of the control plane together, with a fair share for each address. */
export class ControlBodies {
  readonly #shares: AddressShares

  constructor(bodyBytes: number = BODY_BYTES) {
    this.#shares = new AddressShares(bodyBytes, MIN_BYTES)
  }

  get held(): number {
    return this.#shares.all.used
  }

  /** Returns the memory of one call's body. It is given back when the response's connection is done with it. */
  open(address: string, res: ServerResponse): BodyMemory {
    return new CallBody(this.#shares, address, res)
  }
}

class CallBody implements BodyMemory {
  readonly #shares: AddressShares
  readonly #address: string
  readonly #res: ServerResponse
  #held = 0

  constructor(shares: AddressShares, address: string, res: ServerResponse) {
    this.#shares = shares
    this.#address = address
    this.#res = res
  }

  acquire(bytes: number): Fault | undefined {
    // What is nothing is never given back, and no event follows on a connection that is closed already.
    if (bytes === 0 || this.#res.destroyed || this.#res.req.socket.destroyed) return undefined
    if (!this.#shares.acquire(this.#address, bytes)) {
      return new Fault(
        'control_rate_limit_exceeded',
        'The bodies from this address are too large together.',
        {
          retryAfterSeconds: 1,
        },
      )
    }
    if (this.#held === 0) {
      // 'close' of the response does not fire for a pipelined call whose connection closed.
      this.#res.once('close', this.#release)
      this.#res.req.socket.once('close', this.#release)
    }
    this.#held += bytes
    return undefined
  }

  readonly #release = (): void => {
    if (this.#held === 0) return
    this.#res.req.socket.off('close', this.#release)
    this.#shares.release(this.#address, this.#held)
    this.#held = 0
  }
}
