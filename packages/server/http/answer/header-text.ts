/**
 * The limit of one value. A longer name is a mistake or an attack; clients and proxies limit the header block as a
 * whole.
 */
const MAX_VALUE_BYTES = 1024
/** Marks the end of a value that was cut. */
const CUT = '...'
const NOT_VISIBLE_ASCII = /[^\x20-\x7e]/

/** True if the text can be sent unchanged as a header value. */
export function isHeaderText(text: string): boolean {
  return text.length <= MAX_VALUE_BYTES && !NOT_VISIBLE_ASCII.test(text)
}

/**
 * Returns any text as a header value. Text that is not visible ASCII is percent-encoded like a URI: as UTF-8, with a
 * lone surrogate as U+FFFD. A value over 1 KiB is cut between two characters and ends with `...`.
 */
export function toHeaderText(text: string): string {
  return isHeaderText(text) ? text : encode(text, NOT_VISIBLE_ASCII.test(text.slice(0, MAX_VALUE_BYTES + 1)))
}

function encode(text: string, isEscaped: boolean): string {
  let encoded = ''
  /** The longest prefix that leaves room for the mark. */
  let uncut = ''
  for (const character of text.slice(0, MAX_VALUE_BYTES + 1)) {
    encoded += isEscaped ? escape(character) : character
    if (encoded.length > MAX_VALUE_BYTES) return uncut + CUT
    if (encoded.length <= MAX_VALUE_BYTES - CUT.length) uncut = encoded
  }
  return encoded
}

/** Handles lone surrogates, for which encodeURI throws. */
function escape(character: string): string {
  return /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURI(character)
}

/** Encodes like toHeaderText but never cuts: for values that must stay whole, such as a cookie or an address. */
export function toExactHeaderText(text: string): string {
  return NOT_VISIBLE_ASCII.test(text) ? Array.from(text, escape).join('') : text
}

/**
 * Returns names as a list value: `a, b`. A comma within a name is escaped. A list over 1 KiB is cut between two names,
 * and `...` replaces the rest.
 */
export function toHeaderList(names: readonly string[]): string {
  let list = ''
  for (const [at, name] of names.entries()) {
    const before = at === 0 ? '' : `${list}, `
    const longer = before + toHeaderText(name).replaceAll(',', '%2C')
    if (longer.length + `, ${CUT}`.length > MAX_VALUE_BYTES) return before + CUT
    list = longer
  }
  return list
}
