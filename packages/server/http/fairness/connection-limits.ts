import type { Server, Socket } from 'node:net'
import { acquire, type CapacityShare, release } from '../../core/admission/fair-share.ts'
import { type TrustedProxies, toPeerAddress } from '../head/client-address.ts'
import { AddressShares } from './address-shares.ts'

export interface ConnectionLimitsOptions {
  /** Connections that may be open at once. */
  readonly max: number
  /** Connections of one address; undefined: its fair share only. */
  readonly perAddress: number | undefined
  /** Their connections carry many callers, so only `max` applies to them. */
  readonly trustedProxies: TrustedProxies
}

/**
 * Bounds the open connections of a server, all together and per client address, idle and half-open ones included, so
 * that no address takes all file descriptors. A connection over the bound is closed without an answer.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions
  readonly #shares: AddressShares
  #refused = 0

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options
    this.#shares = new AddressShares(options.max, 1)
  }

  get open(): number {
    return this.#shares.all.used
  }

  /** All connections, of which other processes of the machine may have some. */
  get all(): CapacityShare {
    return this.#shares.all
  }

  get refused(): number {
    return this.#refused
  }

  /** Applies the limits to a server. */
  guard(server: Server): void {
    server.maxConnections = this.#options.max
    server.on('drop', () => this.#refused++)
    server.on('connection', socket => this.#admit(socket))
  }

  #admit(socket: Socket): void {
    const address = toPeerAddress(socket.remoteAddress)
    if (this.#acquire(address)) socket.on('close', () => this.#release(address))
    else {
      this.#refused++
      socket.destroy()
    }
  }

  #acquire(address: string): boolean {
    if (this.#isProxy(address)) return acquire(this.#shares.all, 1)
    return this.#shares.acquire(address, 1, this.#options.perAddress)
  }

  #release(address: string): void {
    if (this.#isProxy(address)) release(this.#shares.all, 1)
    else this.#shares.release(address, 1)
  }

  #isProxy(address: string): boolean {
    return address !== '' && this.#options.trustedProxies.has(address)
  }
}
