/**
 * Free text of a caller that a record keeps: parsed once, where it arrives, into a bounded value of a type of its own. All
 * lengths are in UTF-16 code units, as JavaScript and OpenAI's API count characters.
 */

declare const parsed: unique symbol

/** A model, an alias or `provider/model`, as a caller names it. Made by `parseModelName` only. */
export type ModelName = string & { readonly [parsed]: 'ModelName' }

/** Pairs of strings that are kept with the log. Made by `formats/shared/reading/log-metadata.ts` only. */
export type LogMetadata = Readonly<Record<string, string>> & { readonly [parsed]: 'LogMetadata' }

/**
 * The longest real names are ARNs of Amazon Bedrock (a custom model's has at most 215 characters). More would not fit into
 * one row of PostgreSQL's indexes beside an end user's id: 2,704 bytes in all.
 */
export const MAX_MODEL_NAME = 512

const CONTROL_OR_HALF_PAIR = /[\p{Cc}\p{Cs}]/u
/** Matches like CONTROL_OR_HALF_PAIR, except tab, line feed and carriage return. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Cs}/u

/** Returns true if the text has at most `max` characters, none of them a control character or half a surrogate pair. */
export function isLine(text: string, max: number): boolean {
  return text.length <= max && !CONTROL_OR_HALF_PAIR.test(text)
}

/** Checks a text of several lines like `isLine`. */
export function isText(text: string, max: number): boolean {
  return text.length <= max && !UNPRINTABLE.test(text)
}

/** Returns undefined for what no model can be called. */
export function parseModelName(text: string): ModelName | undefined {
  return isLine(text, MAX_MODEL_NAME) ? (text as ModelName) : undefined
}

/** The text with U+FFFD in the place of each control character and half surrogate pair. */
export function toLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
}
