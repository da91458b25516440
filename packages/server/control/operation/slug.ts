import type { Random } from '../../core/random.ts'
import { z } from './zod.ts'

const MAX_LENGTH = 48

/** A slug that the caller chooses. */
export const slugField = z
  .string()
  .max(MAX_LENGTH)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits with single hyphens between them')

/** Converts a name to lower-case ASCII words with hyphens. Returns `fallback` if nothing remains. */
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

/** Returns a slug made from a name, with a random suffix if another has it. `own`: the slug of the record that is renamed. */
export async function findFreeSlug(
  slug: string,
  isTaken: (slug: string) => Promise<boolean>,
  random: Random,
  own?: string,
): Promise<string> {
  if (slug === own || !(await isTaken(slug))) return slug
  const end = `-${random.bytes(4).toString('hex')}`
  return `${slug.slice(0, MAX_LENGTH - end.length).replace(/-+$/, '')}${end}`
}
