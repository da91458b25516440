import { isDeepStrictEqual } from 'node:util'

/** Throws what the fuzzer reports as a finding. */
export function assert(isTrue: boolean, guarantee: string): asserts isTrue {
  if (!isTrue) throw new Error(`Broken guarantee: ${guarantee}.`)
}

export function assertEqual(got: unknown, expected: unknown, guarantee: string): void {
  if (isDeepStrictEqual(got, expected)) return
  const show = (value: unknown): string => (JSON.stringify(value, toShown) ?? 'undefined').slice(0, 600)
  throw new Error(`Broken guarantee: ${guarantee}.\n  got      ${show(got)}\n  expected ${show(expected)}`)
}

function toShown(_: string, value: unknown): unknown {
  if (value instanceof Map) return { map: [...value] }
  return typeof value === 'bigint' ? `${value}n` : value
}

/** The result or the error of a call. */
export function attempt<Value>(
  call: () => Value,
): { readonly value: Value; readonly error?: undefined } | { readonly error: Error } {
  try {
    return { value: call() }
  } catch (error) {
    if (error instanceof Error) return { error }
    throw error
  }
}

interface FileCoverage {
  readonly s: Readonly<Record<string, number>>
}

/** What the fuzzer's instrumentation counts: how often each statement of the bundle ran. */
function countStatements(): number {
  const files = (globalThis as { __coverage__?: Readonly<Record<string, FileCoverage>> }).__coverage__ ?? {}
  let count = 0
  for (const file of Object.values(files)) for (const times of Object.values(file.s)) count += times
  return count
}

/**
 * Throws if a call runs more than `perByte` statements for a byte of its input, beside a constant: work that grows faster than
 * the input. It counts statements and not time, so it finds the same on every machine. It does not see into Node's own code.
 */
export function assertLinear(bytes: Buffer, perByte: number, constant: number, call: () => void): void {
  const first = countStatements()
  const before = countStatements()
  call()
  // Counting runs statements too, as many each time.
  const counting = before - first
  const spent = countStatements() - before - counting
  assert(
    spent <= constant + perByte * bytes.length,
    `at most ${constant} + ${perByte} a byte statements; ${spent} for ${bytes.length} bytes`,
  )
}

/** The bytes again and again, up to about `length`: what is slow on one pattern is slower on many. */
export function repeat(bytes: Buffer, length: number): Buffer {
  return bytes.length === 0 ? bytes : Buffer.alloc(length, bytes)
}
