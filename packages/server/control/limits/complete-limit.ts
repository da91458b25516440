import { findLimit } from '../../storage/policies/limits.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { type LimitResource, toLimitResource } from './limit-resource.ts'
import { measureLimit } from './measure-limits.ts'

type Limit = z.output<typeof LimitResource>

/** Returns the limit of a write with the figures of its counter; unchanged if it was removed meanwhile. */
export async function completeLimit(
  { services }: { readonly services: Services },
  written: Limit,
): Promise<Limit> {
  const row = await findLimit(services.db, written.id)
  return row === undefined ? written : toLimitResource(await measureLimit(services, row))
}
