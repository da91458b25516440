// What the formats have in common.

/** What a signed piece of reasoning must come back as. */
export const SIGNATURE = Buffer.from('signed by the scripted provider').toString('base64')

/** Throws for a field that the provider does not know. */
export function checkFields(object, known, where = '') {
  const unknown = Object.keys(object).filter(name => !known.includes(name))
  if (unknown.length > 0) throw new Error(`unknown ${where}fields: ${unknown.join(', ')}`)
}

/** Throws where a result answers no call, or a call has no result. Both are lists of ids. */
export function checkPairs(calls, results) {
  for (const id of results) if (!calls.includes(id)) throw new Error(`result of an unknown call: ${id}`)
  for (const id of calls) if (!results.includes(id)) throw new Error(`call without a result: ${id}`)
}

/**
 * Sends the frames of a stream. `isCut`: the first half of them, then the connection breaks. `isSilent`: the first one,
 * then nothing for good.
 */
export function sendFrames(res, frames, { isCut, isSilent }) {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  if (isSilent) return res.write(frames[0])
  if (!isCut) return res.end(frames.join(''))
  res.write(frames.slice(0, frames.length >> 1).join(''), () => setImmediate(() => res.destroy()))
}

/** Sends an answer without a stream. */
export function sendWhole(res, body, { isCut, isSilent }) {
  const text = JSON.stringify(body)
  if (isSilent) return
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  if (!isCut) return res.end(text)
  res.write(text.slice(0, text.length >> 1), () => setImmediate(() => res.destroy()))
}

/** A text in pieces of one word. */
export const toWords = text => text.split(/(?<= )/)

export const named = event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
export const unnamed = event => `data: ${JSON.stringify(event)}\n\n`
