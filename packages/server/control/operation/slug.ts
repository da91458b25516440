import type { Random } from '../../core/chance.ts'
import { z } from './zod.ts'

const MAX_LENGTH = 48

/** A slug that the caller chooses. */
export const slugField = z
  .string()
  .max(MAX_LENGTH)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits with single hyphens between them')

/** A name as it may stand in an address: lower-case ASCII words with hyphens. `fallback` where none remains. */
export function toSlug(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? fallback : slug
}

/** Made of the name where the caller chose none; then one that is taken gets an end by chance. */
export async function findFreeSlug(
  slug: string,
  isTaken: (slug: string) => Promise<boolean>,
  random: Random,
): Promise<string> {
  if (!(await isTaken(slug))) return slug
  const end = `-${random.bytes(4).toString('hex')}`
  return `${slug.slice(0, MAX_LENGTH - end.length).replace(/-+$/, '')}${end}`
}
