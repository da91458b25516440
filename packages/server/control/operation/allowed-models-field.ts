import { textField } from './fields.ts'
import { z } from './zod.ts'

/** Every worker holds the lists of the keys, plans and environments that it serves. */
const MAX_LIST_BYTES = 64 * 1024

/** A list of the models that may be used. */
export const allowedModelsField = z
  .array(textField(256))
  .max(1000)
  .refine(entries => countBytes(entries) <= MAX_LIST_BYTES, {
    error: ({ input }) =>
      `must have at most ${MAX_LIST_BYTES} bytes in all its entries; got ${countBytes(input as string[])}`,
  })
  .meta({ description: `At most 1000 entries and ${MAX_LIST_BYTES} bytes in all.` })

function countBytes(entries: readonly string[]): number {
  return entries.reduce((sum, entry) => sum + Buffer.byteLength(entry), 0)
}
