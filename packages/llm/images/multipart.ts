import { createHash } from 'node:crypto'

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly bytes: Buffer; readonly fileName: string; readonly mediaType: string }

/** A form as RFC 7578 has it. The boundary is a digest of what it separates, so that it cannot stand within. */
export function encodeForm(parts: readonly FormPart[]): { contentType: string; body: Buffer } {
  const digest = createHash('sha256')
  for (const part of parts) digest.update('bytes' in part ? part.bytes : part.value)
  const boundary = `form-${digest.digest('hex').slice(0, 40)}`
  const chunks: Buffer[] = []
  for (const part of parts) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quote(part.name)}"`
    if ('bytes' in part) {
      const file = `; filename="${quote(part.fileName)}"\r\nContent-Type: ${part.mediaType}\r\n\r\n`
      chunks.push(Buffer.from(head + file), part.bytes, Buffer.from('\r\n'))
    } else {
      chunks.push(Buffer.from(`${head}\r\n\r\n${part.value}\r\n`))
    }
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`))
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(chunks) }
}

function quote(name: string): string {
  return name.replace(/["\r\n]/g, char => (char === '"' ? '%22' : char === '\r' ? '%0D' : '%0A'))
}
