import { decodeBase64 } from './encoding/base64.ts'

const KEY_ID_BYTES = 32

/** Returns the 32 bytes of a device key's id in base64 or base64url; undefined for any other text. */
export function parseKeyId(text: string): Buffer | undefined {
  const bytes = decodeBase64(text, KEY_ID_BYTES)
  return bytes?.length === KEY_ID_BYTES ? bytes : undefined
}
