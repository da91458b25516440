import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { type TerminalStyle, toTerminalLine } from './terminal-line.ts'

const PLAIN: TerminalStyle = { hasColors: false, columns: undefined }
/** What a terminal obeys, or does not show, besides the ends of the program's own lines. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

/** What the log writes for a call, without the time. */
function write(call: (log: pino.Logger) => void, style = PLAIN): string {
  let text = ''
  const log = pino({ level: 'trace' }, { write: line => (text += toTerminalLine(line, style)) })
  call(log)
  return text
}

const withoutTime = (text: string): string => text.replace(/^\d\d:\d\d:\d\d\.\d{3} /, '')

describe('a line of the log on a terminal', () => {
  test('has the local time, the level, the message and the fields, without process and machine', () => {
    const text = write(log => log.warn({ environment: 'env 1', count: 3, on: true, list: [1] }, 'a message'))
    expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}/)
    expect(withoutTime(text)).toBe('WARN  a message environment="env 1" count=3 on=true list=[1]\n')
  })

  test.each([
    ['trace', 'trace'],
    ['debug', 'debug'],
    ['info', 'info '],
    ['warn', 'WARN '],
    ['error', 'ERROR'],
    ['fatal', 'FATAL'],
  ] as const)('names the level %s', (level, shown) => {
    expect(withoutTime(write(log => log[level]('a')))).toBe(`${shown} a\n`)
  })

  test('has colours only where they are supported', () => {
    const call = (log: pino.Logger): void => log.error({ a: 1 }, 'word')
    expect(write(call)).not.toContain('\x1b')
    expect(write(call, { ...PLAIN, hasColors: true }).replaceAll('\x1b', '')).toMatch(
      /^\[2m[\d:.]+\[0m \[31mERROR\[0m \[1mword\[0m \[2ma=1\[0m\n$/,
    )
  })

  test('shows control characters, directions and invisible characters of a text as escapes', () => {
    const hostile = '\x1b]0;owned\x07\x1b[2J\r\n12:00:00 info forged\u009b31m\u202eabc\u2028\u{e0041}\ud800'
    const text = write(log => log.info({ name: hostile, [hostile]: hostile }, hostile))
    expect(text.split('\n')).toHaveLength(2)
    expect(text.trimEnd()).not.toMatch(UNSAFE)
    expect(text).toContain('\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\r\\n12:00:00 info forged\\u{9b}31m\\u{202e}abc')
  })

  test('writes no such character for any text in any place', () => {
    let text = ''
    const log = pino({}, { write: line => (text = toTerminalLine(line, PLAIN)) })
    const anyText = fc.string({ unit: 'binary', maxLength: 60 })
    fc.assert(
      fc.property(anyText, anyText, fc.jsonValue({ maxDepth: 2 }), anyText, (msg, name, value, reason) => {
        const err = new Error(reason)
        log.error({ [name]: value, [`${name}x`]: reason, err }, msg)
        expect(text).toContain(' ERROR ')
        expect(text.replaceAll('\n', '')).not.toMatch(UNSAFE)
        // Lines below the first are indented, so none looks like a line of the log.
        expect(
          text
            .trimEnd()
            .split('\n')
            .slice(1)
            .filter(line => !line.startsWith(' '.repeat(19))),
        ).toEqual([])
      }),
    )
  })

  test('cuts long messages, values and names, and shows a bounded number of fields', () => {
    const long = 'x'.repeat(10_000)
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, long]))
    const text = write(log => log.info({ [long]: { deep: long }, ...many }, long))
    expect(text.length).toBeLessThan(6_000)
    expect(text).toContain(`field0=${'x'.repeat(200)}… `)
  })

  test('shows an error with its code, and a bounded stack below', () => {
    const err = Object.assign(new Error('cannot connect\nto it', { cause: new Error('refused') }), {
      code: 'E1',
    })
    const text = write(log => log.error({ err, alarm: 'exception' }, 'a part failed'))
    const [first, ...stack] = text.trimEnd().split('\n')
    expect(withoutTime(first ?? '')).toMatch(
      /^ERROR a part failed: Error \(E1\): cannot connect\\nto it.* alarm=exception$/,
    )
    expect(stack.length).toBeGreaterThan(2)
    expect(stack.length).toBeLessThanOrEqual(13)
    expect(stack[0]).toMatch(/^ {19}at .*terminal-line\.test\.ts/)
  })

  test('shows an error that is only a text, and one without a message of the log', () => {
    expect(withoutTime(write(log => log.error({ err: "{ not: 'an error' }" }, 'odd')))).toBe(
      "ERROR odd: { not: 'an error' }\n",
    )
    expect(withoutTime(write(log => log.error(new TypeError('bad')))).split('\n')[0]).toBe(
      'ERROR TypeError: bad',
    )
  })

  test('is wrapped at words within the width of the terminal, and not where that is very small', () => {
    const message = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ')
    const lines = write(log => log.info({ key: 'value' }, message), { ...PLAIN, columns: 80 })
      .trimEnd()
      .split('\n')
    expect(lines.every(line => line.length <= 80)).toBe(true)
    expect(lines.slice(1).every(line => /^ {19}\S/.test(line))).toBe(true)
    expect(lines.map(line => line.trim()).join(' ')).toContain('word28 word29 key=value')
    expect(write(log => log.info(message), { ...PLAIN, columns: 20 }).trimEnd()).not.toContain('\n')
  })

  test('is shown as text if it is no JSON object', () => {
    expect(toTerminalLine('[1]\n', PLAIN)).toBe('[1]\n')
    expect(toTerminalLine('half {\x1b', PLAIN)).toBe('half {\\u{1b}\n')
  })
})
