import { useEffect, useRef, useState } from 'react'
import type { ChatDelta, ChatUsage, RideauClient } from '../../../sdk/index.ts'
import type { Draft } from './draft.ts'
import { type PastTurn, type ToolCall, type ToolResult, toChatParams } from './to-chat-params.ts'

/** Measurements of an answer. Times are milliseconds since the request was sent. */
export interface AnswerFigures {
  readonly firstTokenMs: number
  readonly totalMs: number
  readonly usage: ChatUsage | undefined
  /** Undefined while it is not known, null if the model has no price. */
  readonly costUsd: number | null | undefined
}

export interface Turn extends PastTurn {
  readonly model: string
  readonly tools: readonly ToolCall[]
  readonly results: readonly ToolResult[]
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  readonly figures: AnswerFigures | undefined
  readonly requestId: string | null
  readonly error: unknown
}

export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isRunning: boolean
  send(draft: Draft, images: readonly string[]): void
  /** Continues the conversation with the results of the last answer's tool calls. */
  sendToolResults(draft: Draft, results: readonly ToolResult[]): void
  stop(): void
  clear(): void
}

/** Sends prompts with the earlier turns, and keeps the streamed answers. */
export function useConversation(gateway: RideauClient): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController>(undefined)
  // Leaving the page cancels the request, which would otherwise continue to cost money.
  useEffect(() => () => running.current?.abort(), [])

  const change = (changes: Partial<Turn>): void =>
    setTurns(now => now.with(-1, { ...(now.at(-1) as Turn), ...changes }))

  const run = async (
    draft: Draft,
    images: readonly string[],
    results: readonly ToolResult[],
    before: readonly Turn[],
    signal: AbortSignal,
  ): Promise<void> => {
    const startedAt = performance.now()
    const elapsed = (): number => performance.now() - startedAt
    let answer = ''
    let firstTokenMs: number | undefined
    let tools: readonly ToolCall[] = []
    const stream = gateway.streamChat(toChatParams(draft, images, before, results), { signal })
    try {
      for await (const { choices, usage, cost_usd } of stream) {
        const text = choices[0]?.delta.content ?? ''
        if (text !== '') firstTokenMs ??= elapsed()
        answer += text
        tools = addToolCalls(tools, choices[0]?.delta)
        if (tools.length > 0) firstTokenMs ??= elapsed()
        change({
          answer,
          tools,
          state: 'streaming',
          requestId: stream.requestId,
          figures: {
            firstTokenMs: firstTokenMs ?? elapsed(),
            totalMs: elapsed(),
            usage: usage ?? undefined,
            costUsd: cost_usd,
          },
        })
      }
      change({ state: 'done' })
    } catch (error) {
      if (signal.aborted) change({ state: 'stopped' })
      else change({ state: 'failed', error, requestId: stream.requestId ?? requestIdOf(error) })
    }
  }

  const begin = (draft: Draft, prompt: string, images: readonly string[], results: readonly ToolResult[]) => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    const turn: Turn = {
      prompt,
      images,
      results,
      model: draft.model,
      answer: '',
      tools: [],
      state: 'waiting',
      figures: undefined,
      requestId: null,
      error: undefined,
    }
    setTurns([...turns, turn])
    void run(draft, images, results, turns, controller.signal)
  }

  const last = turns.at(-1)
  return {
    turns,
    isRunning: last?.state === 'waiting' || last?.state === 'streaming',
    send: (draft, images) => begin(draft, draft.prompt, images, []),
    sendToolResults: (draft, results) => begin(draft, '', [], results),
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort()
      setTurns([])
    },
  }
}

/** Adds the tool calls of a chunk. Their arguments arrive in pieces. */
function addToolCalls(tools: readonly ToolCall[], delta: ChatDelta | undefined): readonly ToolCall[] {
  if (delta?.tool_calls === undefined) return tools
  const now = [...tools]
  for (const { id, index, function: called } of delta.tool_calls) {
    const known = now[index] ?? { id: '', name: '', arguments: '' }
    now[index] = {
      id: id ?? known.id,
      name: called?.name ?? known.name,
      arguments: known.arguments + (called?.arguments ?? ''),
    }
  }
  return now.filter(item => item !== undefined)
}

function requestIdOf(error: unknown): string | null {
  const { requestId } = (error ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? requestId : null
}
