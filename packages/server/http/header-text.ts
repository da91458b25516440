/** Of one value. A name that is longer is a mistake or an attack; clients and proxies bound the block as a whole. */
const MAX_VALUE_BYTES = 1024
/** Ends a value that was cut. */
const CUT = '...'
const NOT_VISIBLE_ASCII = /[^\x20-\x7e]/

/** True where the text can be a header's value as it is. */
export function isHeaderText(text: string): boolean {
  return text.length <= MAX_VALUE_BYTES && !NOT_VISIBLE_ASCII.test(text)
}

/**
 * Any text as a header's value. Text that is not visible ASCII is percent-encoded as a URI is: UTF-8, a lone surrogate as
 * U+FFFD. What is over 1 KiB is cut between two characters and ends with `...`.
 */
export function toHeaderText(text: string): string {
  return isHeaderText(text) ? text : encode(text, NOT_VISIBLE_ASCII.test(text.slice(0, MAX_VALUE_BYTES + 1)))
}

function encode(text: string, isEscaped: boolean): string {
  let encoded = ''
  /** What still leaves room for the mark of a cut. */
  let uncut = ''
  for (const character of text.slice(0, MAX_VALUE_BYTES + 1)) {
    encoded += isEscaped ? escape(character) : character
    if (encoded.length > MAX_VALUE_BYTES) return uncut + CUT
    if (encoded.length <= MAX_VALUE_BYTES - CUT.length) uncut = encoded
  }
  return encoded
}

/** encodeURI throws for half of a surrogate pair. */
function escape(character: string): string {
  return /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURI(character)
}

/** As toHeaderText, but never cut: for what is only right as a whole, such as a cookie or an address. */
export function toExactHeaderText(text: string): string {
  return NOT_VISIBLE_ASCII.test(text) ? Array.from(text, escape).join('') : text
}

/**
 * Names as the value of a list: `a, b`. A comma within a name is escaped. A list over 1 KiB is cut between two names, and
 * `...` stands for the rest.
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
