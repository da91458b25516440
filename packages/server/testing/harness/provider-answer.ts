import type { JsonObject } from '@rideau/llm/json/json-value'

/** What a model says, in the words of no format. */
export interface ModelAnswer {
  /** The text, in the pieces of a stream. */
  readonly texts: readonly string[]
  readonly calls?: readonly ModelCall[]
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'refusal'
}

export interface ModelCall {
  readonly id: string
  readonly name: string
  /** JSON, in the pieces of a stream. */
  readonly pieces: readonly string[]
}

/** What a frame of a stream brings, besides frames of which no caller needs anything. */
export type FramePart = 'text' | 'call' | 'arguments' | 'finish' | 'usage' | 'end'

export interface ProviderFrame {
  readonly parts: readonly FramePart[]
  readonly bytes: Buffer
}

/** An answer as a provider of one format gives it, plain and as a stream. */
export interface ProviderAnswer {
  readonly plain: JsonObject
  readonly contentType: string
  readonly frames: readonly ProviderFrame[]
}

/** The tokens that every answer reports. */
export const TOKENS = { input: 9, output: 5 }

export const SSE = 'text/event-stream'

export const argumentsOf = ({ pieces }: ModelCall): string => pieces.join('')
export const inputOf = (call: ModelCall): JsonObject => JSON.parse(argumentsOf(call)) as JsonObject
export const textOf = ({ texts }: ModelAnswer): string => texts.join('')
export const callsOf = ({ calls = [] }: ModelAnswer): readonly ModelCall[] => calls

export function frame(parts: readonly FramePart[], bytes: string | Uint8Array): ProviderFrame {
  return { parts, bytes: Buffer.from(bytes) }
}
export const toData = (parts: readonly FramePart[], body: JsonObject): ProviderFrame =>
  frame(parts, `data: ${JSON.stringify(body)}\n\n`)
/** Google ends its lines with CRLF. */
export const toGoogleData = (parts: readonly FramePart[], body: JsonObject): ProviderFrame =>
  frame(parts, `data: ${JSON.stringify(body)}\r\n\r\n`)
export const toTyped = (parts: readonly FramePart[], body: JsonObject): ProviderFrame =>
  frame(parts, `event: ${String(body.type)}\ndata: ${JSON.stringify(body)}\n\n`)

/** The next piece of each call in turn, as models write parallel calls at once. */
export function alternate<T>(
  calls: readonly ModelCall[],
  toFrame: (piece: string, call: ModelCall, at: number) => T,
): T[] {
  const longest = Math.max(0, ...calls.map(({ pieces }) => pieces.length))
  return Array.from({ length: longest }, (_, n) =>
    calls.flatMap((call, at) => {
      const piece = call.pieces[n]
      return piece === undefined ? [] : [toFrame(piece, call, at)]
    }),
  ).flat()
}
