// The least that a gateway in Node must do: raw sockets on both sides, a look at the key, a count for a limit, a line of a log in one write a
// tick. It trusts its peers' framing, so nothing but the benchmark may use it.
//   node bench/raw-relay.mjs PORT UPSTREAM_PORT KEY LOG_FILE
import fs from 'node:fs'
import net from 'node:net'

const [port, upstreamPort, key, logFile] = process.argv.slice(2)
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const END_OF_CHUNKS = Buffer.from('0\r\n\r\n')
const authorization = `authorization: bearer ${key}`.toLowerCase()
const log = fs.openSync(logFile, 'a')
const used = new Map()
const idle = []
let lines = ''

function note(bytes) {
  if (lines === '') process.nextTick(writeLines)
  lines += `{"at":${Date.now()},"key":"${key}","bytes":${bytes}}\n`
}

function writeLines() {
  fs.writeSync(log, lines)
  lines = ''
}

function lengthOf(head) {
  const match = /\r\ncontent-length: *(\d+)/i.exec(head)
  return match === null ? undefined : Number(match[1])
}

/** Bytes of a message that come in pieces; `isWhole` after the last one. */
class Message {
  #head = ''
  #left = 0
  #isChunked = false
  isWhole = false

  get head() {
    return this.#head
  }

  add(bytes) {
    if (this.#head !== '') {
      this.#left -= bytes.length
    } else {
      const end = bytes.indexOf(END_OF_HEAD)
      if (end < 0) throw new Error('a head came in pieces')
      this.#head = bytes.latin1Slice(0, end)
      const length = lengthOf(this.#head)
      this.#isChunked = length === undefined
      this.#left = (length ?? 0) - (bytes.length - end - END_OF_HEAD.length)
    }
    this.isWhole = this.#isChunked
      ? bytes.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS)
      : this.#left <= 0
  }
}

function takeUpstream() {
  const free = idle.pop()
  if (free !== undefined) return free
  const socket = net.connect({ port: Number(upstreamPort), host: '127.0.0.1', noDelay: true })
  const upstream = { socket, onData: () => {} }
  socket.on('data', bytes => upstream.onData(bytes))
  socket.on('error', () => {})
  return upstream
}

function relay(caller, request) {
  const upstream = takeUpstream()
  const answer = new Message()
  let bytesSent = 0
  upstream.onData = bytes => {
    answer.add(bytes)
    bytesSent += bytes.length
    if (answer.isWhole) {
      note(bytesSent)
      idle.push(upstream)
    }
    caller.write(bytes)
  }
  for (const bytes of request) upstream.socket.write(bytes)
}

net
  .createServer({ noDelay: true }, caller => {
    let message = new Message()
    let pieces = []
    caller.on('error', () => {})
    caller.on('data', bytes => {
      message.add(bytes)
      pieces.push(bytes)
      if (!message.isWhole) return
      if (!message.head.toLowerCase().includes(authorization))
        return caller.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
      used.set(key, (used.get(key) ?? 0) + 1)
      relay(caller, pieces)
      message = new Message()
      pieces = []
    })
  })
  .listen(Number(port), '127.0.0.1')
