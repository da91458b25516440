import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { runInSlices } from '../../http/fairness/sliced-work.ts'

/** Converts a list of thousands in slices of the event loop, in the turns of an organization. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  convert: (item: Item) => Result,
  orgId: string | undefined,
): Promise<Result[]> {
  const results: Result[] = []
  const step = (): boolean => {
    const index = results.length
    if (index < items.length) results.push(convert(items[index] as Item))
    return results.length === items.length
  }
  await runInSlices({ step }, () => false, toOwner(orgId))
  return results
}

/** Returns the owner of the long work that is done for an organization, and for one of its callers. */
export function toOwner(orgId: string | undefined, actorId?: string): ShareOwner {
  const environment = orgId === undefined ? undefined : { orgId, id: '' }
  // A user may act in several organizations, but a share of a key is of one.
  const caller = actorId === undefined ? undefined : { keyId: `${orgId ?? ''} ${actorId}` }
  return { environment, caller, endUser: undefined }
}
