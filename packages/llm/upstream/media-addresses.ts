import { parseUrl } from '../request/bounded-url.ts'

/**
 * Which addresses a body may name where its provider would fetch what lies there: images, files, audio and video. `any`: a key
 * decides for itself. `public`: data URLs, and `https:` addresses that lead to no private host by their text. `none`: data URLs
 * alone, where the provider's own network may hold private hosts.
 */
export type MediaAddresses = 'any' | 'public' | 'none'

/** Longer than any server takes. */
const MAX_ADDRESS = 8192
const DATA_URL = /^data:/i
/** Parsers leave out control characters and spaces before this. Found once, since those of 31 MiB take 17 ms. */
const START = /[^\s\0-\x20]/
/** A scheme and what follows it. Parsers leave out tabs and line ends anywhere. */
const SCHEME =
  /^(?:[a-z][a-z0-9+.-]{0,63}:){0,4}([a-z](?:[\t\n\r]*[a-z0-9+.-]){0,63})[\t\n\r]*:[\t\n\r]*(\S)/i
/** So much of a text is read for its scheme, which has a few hundred letters and may have line ends between them. */
const MAX_SCHEME = 8192
/** A part of a text that ends before it is known whether it has a scheme. */
const UNFINISHED =
  /^(?:[a-z][a-z0-9+.-]{0,63}:){0,4}[a-z](?:[\t\n\r]*[a-z0-9+.-]){0,63}[\t\n\r]*(?::[\t\n\r]*)?$/i
/** Parsers read a host after these even without a slash. */
const SLASHLESS = /^(?:https?|wss?|ftp|file|gs|s3)$/i
/** A host without a scheme, which parsers take from where they read. */
const HOST_ALONE = /^[/\\]{2}[^\s/\\]/
const ADDRESS_NAME = /ur[il]s?$/i
/** Names that only a private network or the machine itself resolves. */
const PRIVATE_NAME =
  /^[^.]*$|\.(?:arpa|cluster|consul|corp|home|internal|intranet|invalid|lan|local|localdomain|localhost|onion|private|svc|test)$/
/** Other ports serve databases and the like. */
const WEB_PORTS: ReadonlySet<string> = new Set(['', '80', '443', '8443'])
const V4 = /^\d+\.\d+\.\d+\.\d+$/

export function isAddressName(name: string): boolean {
  return ADDRESS_NAME.test(name)
}

export function isSendableAddress(text: string, allowed: MediaAddresses): boolean {
  if (allowed === 'any' || DATA_URL.test(text)) return true
  return allowed === 'public' && isPublicAddress(text)
}

/** Where bytes in base64 are expected, which some providers also take by their address. */
export function isSendableMedia(text: string, allowed: MediaAddresses): boolean {
  return (
    isSendableAddress(text, allowed) || !(text.includes(':') || text.includes('.') || text.includes('\\'))
  )
}

/** Returns true if a text may be sent in a field of unknown meaning. */
export function isSendableText(name: string, text: string, allowed: MediaAddresses): boolean {
  if (allowed === 'any' || !(isAddressName(name) || hasScheme(text))) return true
  return isSendableAddress(text, allowed)
}

/** True if a parser may read a host in the text. One slash or backslash is as good as two. */
function hasScheme(text: string): boolean {
  // Of a text of blanks alone its last one.
  const start = text.search(START)
  const address = start === -1 ? text.slice(-1) : text.slice(start, start + MAX_SCHEME)
  if (HOST_ALONE.test(address)) return true
  if (address.length === MAX_SCHEME && UNFINISHED.test(address)) return true
  const [, scheme = '', next = ''] = SCHEME.exec(address) ?? []
  return next === '/' || next === '\\' || SLASHLESS.test(scheme.replace(/[\t\n\r]/g, ''))
}

/**
 * True for an `https:` address of a host by its name. A host by its number is refused, public or not: whoever serves images to the
 * public has a name, and parsers disagree on numbers. What could be read as the user before another host is refused too.
 */
function isPublicAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS || !/^https:\/\//i.test(text)) return false
  const url = parseUrl(text)
  if (url === undefined) return false
  const rest = text.slice('https://'.length)
  const slash = rest.indexOf('/')
  if (/[@%\s\\]/.test(slash === -1 ? rest : rest.slice(0, slash))) return false
  const host = url.hostname.replace(/\.$/, '')
  return WEB_PORTS.has(url.port) && !host.startsWith('[') && !V4.test(host) && !PRIVATE_NAME.test(host)
}
