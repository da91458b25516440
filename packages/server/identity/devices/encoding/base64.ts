/**
 * Returns the bytes of a text in base64 or base64url, with or without padding; undefined for any other text and for more
 * than `maxBytes`. Node ignores what is not base64, so the bytes are encoded again and compared.
 */
export function decodeBase64(text: string, maxBytes: number): Buffer | undefined {
  if (text.length > Math.ceil(maxBytes / 3) * 4) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (padding > 0 && text.length % 4 !== 0) return undefined
  const digits = text.slice(0, text.length - padding)
  const bytes = Buffer.from(digits, 'base64')
  if (bytes.length > maxBytes) return undefined
  const isSame =
    bytes.toString('base64url') === digits || bytes.toString('base64').replace(/=+$/, '') === digits
  return isSame ? bytes : undefined
}
