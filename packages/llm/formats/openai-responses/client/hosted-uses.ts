import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { Target } from '../../../upstream/target.ts'
import type { HostedUse } from '../../../usage/usage.ts'
import { type HostedCounts, priceUses, toUses } from '../../shared/tools/hosted-tools.ts'

/** Counts the uses of tools that the provider ran for one answer, by its output and by its own count. */
export class HostedUses {
  readonly #target: Target
  /** True for a search, by the item's id. Opening a page that was found is free. */
  readonly #searches = new Map<string, boolean>()
  /** Containers in which code ran, by their ids; a call that names none counts as one. */
  readonly #containers = new Map<string, string>()

  constructor(target: Target) {
    this.#target = target
  }

  /**
   * Adds an item of the output. `key`: its place. A later state of the same item replaces an earlier one. Returns how many more
   * characters are kept.
   */
  add(item: JsonObject, key: string): number {
    if (item.type === 'web_search_call') {
      const action = toText(toObject(item.action)?.type)
      const isKnown = this.#searches.has(key)
      this.#searches.set(key, action === undefined || action === 'search')
      return isKnown ? 0 : key.length
    }
    if (item.type !== 'code_interpreter_call') return 0
    const container = toText(item.container_id) ?? key
    const known = this.#containers.get(key)
    this.#containers.set(key, container)
    return known === undefined ? key.length + container.length : Math.max(0, container.length - known.length)
  }

  /** What was used so far, or by the whole response; undefined: nothing that has a price. */
  price(response?: JsonObject): HostedUse | undefined {
    if (response !== undefined) {
      for (const [at, item] of toObjects(response.output).entries()) this.add(item, String(at))
    }
    return priceUses(this.#count(response), this.#target)
  }

  #count(response: JsonObject | undefined): HostedCounts {
    const details = toObject(toObject(response?.usage)?.server_side_tool_usage_details)
    const requests = toUses(toObject(toObject(response?.tool_usage)?.web_search)?.num_requests) ?? 0
    const searches = toUses(details?.web_search_calls) ?? (requests > 0 ? requests : this.#countSearches())
    return {
      web_search: searches,
      x_search: toUses(details?.x_search_calls) ?? 0,
      code_interpreter: toUses(details?.code_interpreter_calls) ?? new Set(this.#containers.values()).size,
    }
  }

  #countSearches(): number {
    let searches = 0
    for (const isSearch of this.#searches.values()) if (isSearch) searches++
    return searches
  }
}
