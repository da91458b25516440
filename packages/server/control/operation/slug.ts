import type { Random } from '../../core/random.ts'
import { isUniqueViolation } from '../../storage/unique-violation.ts'
import { z } from './zod.ts'

const MAX_LENGTH = 48

/** A slug that the caller chooses. */
export const slugField = z
  .string()
  .max(MAX_LENGTH, { abort: true })
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

interface SlugWrite<Result> {
  readonly isTaken: (slug: string) => Promise<boolean>
  /** The slug of the record that is renamed. */
  readonly own?: string
  /** The unique index of the slugs. */
  readonly index: string
  /** Must be a transaction, so that it can run again after a failure. */
  readonly write: (slug: string) => Promise<Result>
}

/**
 * Writes a record with a slug made from its name, with a random suffix if another has it. A concurrent write may take the
 * slug after it was found free: then the record is written again, with a suffix.
 */
export async function writeWithFreeSlug<Result>(
  slug: string,
  random: Random,
  { isTaken, own, index, write }: SlugWrite<Result>,
): Promise<Result> {
  if (slug === own || !(await isTaken(slug))) {
    try {
      return await write(slug)
    } catch (error) {
      if (!isUniqueViolation(error, index)) throw error
    }
  }
  return await write(withSuffix(slug, random))
}

function withSuffix(slug: string, random: Random): string {
  const end = `-${random.bytes(4).toString('hex')}`
  return `${slug.slice(0, MAX_LENGTH - end.length).replace(/-+$/, '')}${end}`
}
