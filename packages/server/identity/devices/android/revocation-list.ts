const MAX_ENTRIES = 100_000
const SERIAL = /^[0-9a-f]{1,64}$/i

/**
 * Returns the serial numbers of all revoked and suspended certificates in Google's status list
 * (https://android.googleapis.com/attestation/status), in the form of Certificate.serial; undefined if the document is no such
 * list. An entry whose serial or status is malformed makes it none: a list that is half understood would let devices through.
 */
export function parseRevocationList(document: unknown): ReadonlySet<string> | undefined {
  if (!isObject(document) || !isObject(document.entries)) return undefined
  const entries = Object.entries(document.entries)
  if (entries.length > MAX_ENTRIES) return undefined
  const serials = new Set<string>()
  for (const [serial, entry] of entries) {
    if (!SERIAL.test(serial) || !isObject(entry) || typeof entry.status !== 'string') return undefined
    // The list has REVOKED and SUSPENDED. A status that a later version adds counts as withdrawn too.
    serials.add(serial.toLowerCase().replace(/^0+/, ''))
  }
  return serials
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
