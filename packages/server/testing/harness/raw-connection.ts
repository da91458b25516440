import { connect, type Socket } from 'node:net'

/** A connection for bytes that no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket
  /** Everything received so far. */
  text(): string
  /** Resolves with the received text once it contains `part`. Rejects if the connection closes before. */
  until(part: string): Promise<string>
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  const waiting: { part: string; resolve: (text: string) => void; reject: (error: Error) => void }[] = []
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    for (const each of waiting) if (text.includes(each.part)) each.resolve(text)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const each of waiting) each.reject(new Error(`closed before ${each.part}: ${text}`))
  })
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  return {
    socket,
    text: () => text,
    until: part =>
      new Promise((resolve, reject) =>
        text.includes(part) ? resolve(text) : waiting.push({ part, resolve, reject }),
      ),
  }
}
