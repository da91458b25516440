import { z } from 'zod'
import { takeChars } from '../../core/records/cut-text.ts'

/** Longer values are cut in messages: what is far too long for a number may be a secret in the wrong place. */
const MAX_SHOWN_CHARS = 20

type NumberSetting = z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>

/** A whole number. `expected` follows the setting's name in the error, which adds what was given. */
export function wholeNumber(min: number, max: number, expected: string): NumberSetting {
  return number(value => Number.isSafeInteger(value) && value >= min && value <= max, expected)
}

/** A number above 0, not necessarily whole. */
export function positiveNumber(max: number, expected: string): NumberSetting {
  return number(value => value > 0 && value <= max, expected)
}

/** A number from `min` to `max`, not necessarily whole. */
export function numberWithin(min: number, max: number, expected: string): NumberSetting {
  return number(value => value >= min && value <= max, expected)
}

function number(isAccepted: (value: number) => boolean, expected: string): NumberSetting {
  return z.string().transform((text, context) => {
    // Number() makes 0 of white space.
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (isAccepted(value)) return value
    context.addIssue({ code: 'custom', message: `${expected}; got ${quote(text)}` })
    return z.NEVER
  })
}

export function choice<const T extends string>(...accepted: T[]): z.ZodEnum<{ [Value in T]: Value }> {
  return z.enum(accepted, {
    error: ({ input }) => `must be one of ${accepted.join(', ')}; got ${quote(String(input))}`,
  })
}

/** JSON, so that the message has no control characters. */
function quote(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN_CHARS ? `${takeChars(text, MAX_SHOWN_CHARS)}…` : text)
}
