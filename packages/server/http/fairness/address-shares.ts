import {
  acquire,
  type CapacityShare,
  openCapacity,
  openShare,
  release,
} from '../../core/admission/fair-share.ts'
import { toAddressBlock, toAddressGroup } from '../head/client-address.ts'

/** An address that is alone takes a little over half. */
const FACTOR = 2

/** What the callers of one address group or block hold. */
interface Holding {
  readonly share: CapacityShare
  /** The block that a group is in. */
  readonly block: string | undefined
}

/**
 * Shares a capacity fairly between client addresses. An IPv6 address counts as its /64, and within its /32. Remembers
 * only addresses that hold something.
 */
export class AddressShares {
  readonly all: CapacityShare
  readonly #holdings = new Map<string, Holding>()

  constructor(capacity: number, least: number) {
    this.all = openCapacity(capacity, least)
  }

  get addresses(): number {
    return this.#holdings.size
  }

  /** Holds an amount for an address. Returns false if it has its share, or would hold more than `max`. */
  acquire(address: string, amount: number, max = Number.POSITIVE_INFINITY): boolean {
    const group = toAddressGroup(address)
    const known = this.#holdings.get(group)
    if ((known?.share.used ?? 0) + amount > max) return false
    const { share } = known ?? this.#open(group, address)
    if (acquire(share, amount)) return true
    this.#forget(group)
    return false
  }

  release(address: string, amount: number): void {
    const group = toAddressGroup(address)
    const holding = this.#holdings.get(group)
    if (holding === undefined) return
    release(holding.share, amount)
    this.#forget(group)
  }

  #open(group: string, address: string): Holding {
    const block = toAddressBlock(address)
    const parent = block === undefined ? this.all : this.#openBlock(block).share
    const holding = { share: openShare(parent, FACTOR), block }
    this.#holdings.set(group, holding)
    return holding
  }

  #openBlock(block: string): Holding {
    const known = this.#holdings.get(block)
    if (known !== undefined) return known
    const holding = { share: openShare(this.all, FACTOR), block: undefined }
    this.#holdings.set(block, holding)
    return holding
  }

  /** Forgets a group that holds nothing, and its block if that holds nothing either. */
  #forget(key: string): void {
    const holding = this.#holdings.get(key)
    if (holding === undefined || holding.share.used > 0) return
    this.#holdings.delete(key)
    if (holding.block !== undefined) this.#forget(holding.block)
  }
}
