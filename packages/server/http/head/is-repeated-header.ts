import type { IncomingMessage } from 'node:http'

/** True if a header was sent more than once. Node joins the values of most headers. `name` is in lower case. */
export function isRepeatedHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at] as string
    if (each.length === name.length && each.toLowerCase() === name) count++
  }
  return count > 1
}
