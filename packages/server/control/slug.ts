const MAX_LENGTH = 48

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
