import type { Mount } from '@rideau/llm/formats/shared/mount'

/** Where mounts begin, by their names, where settings say otherwise than the mount. */
export type Prefixes = Readonly<Record<string, string>>

/** What the paths of a mount begin with. */
export function prefixOf(mount: Mount, prefixes: Prefixes): string {
  return prefixes[mount.name] ?? mount.prefix
}

/** The mount that a path belongs to, also where it has no such route; of two prefixes the longer one counts. */
export function findMount(path: string, mounts: Iterable<Mount>, prefixes: Prefixes): Mount {
  let found: Mount | undefined
  let length = -1
  for (const mount of mounts) {
    const prefix = prefixOf(mount, prefixes)
    if (prefix.length <= length || !path.startsWith(`${prefix}/`)) continue
    found = mount
    length = prefix.length
  }
  if (found === undefined) throw new Error('no mount is registered for paths without a prefix')
  return found
}
