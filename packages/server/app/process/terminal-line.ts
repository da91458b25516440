import { takeChars } from '../../core/records/cut-text.ts'

/** How lines are written to a terminal. */
export interface TerminalStyle {
  readonly hasColors: boolean
  /** The width of the terminal; undefined: lines are not wrapped. */
  readonly columns: number | undefined
}

const LEVELS: readonly { readonly from: number; readonly name: string; readonly color: number }[] = [
  { from: 60, name: 'FATAL', color: 35 },
  { from: 50, name: 'ERROR', color: 31 },
  { from: 40, name: 'WARN', color: 33 },
  { from: 30, name: 'info', color: 32 },
  { from: 20, name: 'debug', color: 36 },
  { from: 0, name: 'trace', color: 90 },
]
const DIM = 2
const BOLD = 1

/** A person at the terminal knows the process and the machine; the others have places of their own in the line. */
const HIDDEN: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err', 'v'])

const MAX_MESSAGE_CHARS = 1_000
const MAX_VALUE_CHARS = 200
const MAX_FIELDS = 20
const MAX_STACK_LINES = 12

/** `14:03:22.104 ERROR ` */
const INDENT = ' '.repeat(19)
/** Below this, wrapping leaves columns of single words. */
const MIN_COLUMNS = 60

/**
 * Returns a line of the log, one JSON object, as text for a person: time, level, message, then fields as `name=value`, and
 * the stack of an error below. Logged texts may be a caller's: their control characters are shown as escapes, so that
 * they neither control the terminal nor look like lines of the log, and long ones are cut.
 */
export function toTerminalLine(json: string, style: TerminalStyle): string {
  const line = parseObject(json)
  if (line === undefined) return `${clean(json.trimEnd(), MAX_MESSAGE_CHARS)}\n`
  const paint = (text: string, color: number): string =>
    style.hasColors && text !== '' ? `\x1b[${color}m${text}\x1b[0m` : text
  const level = LEVELS.find(({ from }) => Number(line.level) >= from) ?? LEVELS[3]
  const { message, stack } = describe(line)
  const fields = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => `${clean(name, 40)}=${toValue(value)}`)
  const isSerious = Number(line.level) >= 50
  const words = [
    ...message.split(' ').map(text => ({ text, color: isSerious ? BOLD : 0 })),
    ...fields.map(text => ({ text, color: DIM })),
  ]
  const head = `${paint(toTime(line.time), DIM)} ${paint((level?.name ?? '').padEnd(5), level?.color ?? 0)} `
  const body = wrap(words, style.columns, paint)
  return `${head}${body}\n${stack.map(line => paint(`${INDENT}${line}`, DIM)).join('\n')}${stack.length > 0 ? '\n' : ''}`
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the message, with that of the error if it has another one, and the lines of the error's stack. */
function describe(line: Record<string, unknown>): { message: string; stack: string[] } {
  const { msg, err } = line
  const message = typeof msg === 'string' ? msg : ''
  if (err === undefined) return { message: clean(message, MAX_MESSAGE_CHARS), stack: [] }
  if (!isObject(err)) return { message: clean(join(message, toText(err)), MAX_MESSAGE_CHARS), stack: [] }
  const { type = 'Error', message: reason = '', code, stack } = err
  const named = `${toText(type)}${code === undefined ? '' : ` (${toText(code)})`}: ${toText(reason)}`
  // The stack begins with the error's message, which may have several lines.
  const frames =
    typeof stack === 'string' ? stack.split('\n').filter(line => /^\s+at |^caused by:/.test(line)) : []
  const shown = frames.slice(0, MAX_STACK_LINES).map(line => clean(line.trim(), MAX_VALUE_CHARS))
  if (frames.length > shown.length) shown.push(`and ${frames.length - shown.length} more`)
  const text = message === reason ? named : join(message, named)
  return { message: clean(text, MAX_MESSAGE_CHARS), stack: shown }
}

function join(message: string, reason: string): string {
  return message === '' ? reason : `${message}: ${reason}`
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Returns a field's value; text with spaces, quotes or nothing in it is quoted. */
function toValue(value: unknown): string {
  const text = clean(toText(value), MAX_VALUE_CHARS)
  return typeof value === 'string' && !/^[^\s"=]+$/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text
}

const NAMED_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * Returns the text, cut, with every character that a terminal obeys or that is invisible as an escape: control characters,
 * directions of writing, characters without width, line separators and halves of surrogate pairs.
 */
function clean(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${takeChars(text, maxChars)}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, character => {
    const code = character.codePointAt(0) ?? 0
    return NAMED_ESCAPES.get(character) ?? `\\u{${code.toString(16)}}`
  })
}

function toTime(time: unknown): string {
  const date = new Date(typeof time === 'number' ? time : Number.NaN)
  if (Number.isNaN(date.getTime())) return '--:--:--.---'
  const pad = (value: number, length: number): string => String(value).padStart(length, '0')
  const seconds = `${pad(date.getSeconds(), 2)}.${pad(date.getMilliseconds(), 3)}`
  return `${pad(date.getHours(), 2)}:${pad(date.getMinutes(), 2)}:${seconds}`
}

interface Word {
  readonly text: string
  readonly color: number
}

/** Joins words by spaces, and begins a new, indented line before a word that has no room in the terminal's width. */
function wrap(
  words: readonly Word[],
  columns: number | undefined,
  paint: (text: string, color: number) => string,
): string {
  const isWrapped = columns !== undefined && columns >= MIN_COLUMNS
  const room = isWrapped ? columns - INDENT.length : Number.POSITIVE_INFINITY
  let text = ''
  let used = 0
  for (const word of words) {
    const painted = word.color === 0 ? word.text : paint(word.text, word.color)
    if (used > 0 && used + 1 + word.text.length > room) {
      text += `\n${INDENT}${painted}`
      used = word.text.length
    } else {
      text += used === 0 ? painted : ` ${painted}`
      used += (used === 0 ? 0 : 1) + word.text.length
    }
  }
  return text
}
