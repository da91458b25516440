import type { LookupAddress } from 'node:dns'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** The names of a hosts file such as /etc/hosts. Read again when the file has changed. */
export class HostsFile {
  readonly #path: string
  #version = ''
  #addresses: ReadonlyMap<string, readonly LookupAddress[]> = new Map()

  constructor(path = '/etc/hosts') {
    this.#path = path
  }

  /** Returns the addresses of a name in the file's order; empty if it has none or cannot be read. */
  async list(hostname: string): Promise<readonly LookupAddress[]> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== this.#version) {
        this.#addresses = parseHosts(await readFile(this.#path, 'utf8'))
        this.#version = version
      }
    } catch {
      return []
    }
    return this.#addresses.get(toKey(hostname)) ?? []
  }
}

/** Each line has an address and the names of it; `#` begins a comment. */
function parseHosts(text: string): Map<string, LookupAddress[]> {
  const found = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [content = ''] = line.split('#', 1)
    const [address = '', ...names] = content.trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names) {
      const key = toKey(name)
      const entries = found.get(key)
      if (entries === undefined) found.set(key, [{ address, family }])
      else entries.push({ address, family })
    }
  }
  return found
}

function toKey(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}
