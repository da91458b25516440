import type { Mount } from '@rideau/llm/formats/shared/reading/mount'

/** Path prefixes by mount name, where the settings override the mount's own. */
export type Prefixes = Readonly<Record<string, string>>

/** Returns the prefix of a mount's paths. */
export function prefixOf(mount: Mount, prefixes: Prefixes): string {
  return prefixes[mount.name] ?? mount.prefix
}

/** Returns the mount that a path belongs to, even if the mount has no such route. The longest matching prefix wins. */
export function getMount(path: string, mounts: Iterable<Mount>, prefixes: Prefixes): Mount {
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
