/**
 * Google's own clients read the events of a stream in four ways, each stricter than the standard in another place. A reader
 * returns the JSON of each event, and throws where the client would lose an event or fail.
 */
export const GOOGLE_READERS: Readonly<Record<string, (text: string) => string[]>> = {
  'google.golang.org/genai': readAsGo,
  '@google/generative-ai': readAsFirstJavaScript,
  '@google/genai': readAsJavaScript,
  'google-genai': readAsPython,
}

/** Splits at blank lines. A block begins with the name of its field. */
function readAsGo(text: string): string[] {
  const found: string[] = []
  let rest = text
  while (rest !== '') {
    const separator = ['\n\n', '\r\n\r\n'].find(each => rest.includes(each)) ?? ''
    const end = separator === '' ? rest.length : rest.indexOf(separator)
    const block = rest.slice(0, end).replace(/\r$/, '')
    rest = rest.slice(end + separator.length)
    if (block === '') continue
    if (!block.startsWith('data:')) throw new Error(`invalid stream chunk: ${JSON.stringify(block)}`)
    found.push(toJson(block.slice('data:'.length)))
  }
  return found
}

/** Takes one event after the other from the start. Nothing may stand between them. */
function readAsFirstJavaScript(text: string): string[] {
  const found: string[] = []
  let rest = text
  for (let event = findFirst(rest); event !== null; event = findFirst(rest)) {
    found.push(toJson(event[1] ?? ''))
    rest = rest.slice(event[0].length)
  }
  if (rest.trim() !== '') throw new Error(`failed to parse stream: ${JSON.stringify(rest)}`)
  return found
}

function findFirst(text: string): RegExpExecArray | null {
  return /^data: (.*)(?:\n\n|\r\r|\r\n\r\n)/.exec(text)
}

/** Splits at the first blank line of any kind, and skips what is no event. */
function readAsJavaScript(text: string): string[] {
  const blocks = text.split(/\n\n|\r\r|\r\n\r\n/)
  if (blocks.at(-1)?.trim() !== '') throw new Error('incomplete JSON segment at the end')
  return blocks
    .map(block => block.trim())
    .filter(block => block.startsWith('data:'))
    .map(block => toJson(block.slice('data:'.length).trim()))
}

/** Reads lines. Several lines of data are one event, and any other line is taken for the JSON of an error. */
function readAsPython(text: string): string[] {
  const found: string[] = []
  let data: string[] = []
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
    else if (line !== '') throw new Error(`not JSON: ${JSON.stringify(line)}`)
    else if (data.length > 0) {
      found.push(toJson(data.join('\n')))
      data = []
    }
  }
  if (data.length > 0) throw new Error('the last event has no end')
  return found
}

/** The JSON without white space around it. Throws on any other text. */
function toJson(text: string): string {
  return JSON.stringify(JSON.parse(text))
}
