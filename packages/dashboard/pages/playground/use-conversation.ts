import { useEffect, useRef, useState } from 'react'
import type { ChatDelta, ChatUsage, RideauClient } from '../../../sdk/index.ts'
import type { Draft } from './draft.ts'
import { type PastTurn, toChatParams } from './to-chat-params.ts'

/** How an answer went, in milliseconds from the moment it was sent. */
export interface AnswerFigures {
  readonly firstTokenMs: number
  readonly totalMs: number
  readonly usage: ChatUsage | undefined
  /** undefined: not known yet. null: the model has no price. */
  readonly costUsd: number | null | undefined
}

/** A tool that the model asks for. `arguments` is JSON as it wrote it. */
export interface AskedTool {
  readonly name: string
  readonly arguments: string
}

export interface Turn extends PastTurn {
  readonly model: string
  readonly tools: readonly AskedTool[]
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  readonly figures: AnswerFigures | undefined
  readonly requestId: string | null
  readonly error: unknown
}

export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isRunning: boolean
  send(draft: Draft, images: readonly string[]): void
  stop(): void
  clear(): void
}

/** Sends prompts with everything said before, and keeps the streamed answers. */
export function useConversation(gateway: RideauClient): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController>(undefined)
  // A page that is left ends its request, which would cost money otherwise.
  useEffect(() => () => running.current?.abort(), [])

  const change = (changes: Partial<Turn>): void =>
    setTurns(now => now.with(-1, { ...(now.at(-1) as Turn), ...changes }))

  const run = async (
    draft: Draft,
    images: readonly string[],
    before: readonly Turn[],
    signal: AbortSignal,
  ): Promise<void> => {
    const startedAt = performance.now()
    const elapsed = (): number => performance.now() - startedAt
    let answer = ''
    let firstTokenMs: number | undefined
    let tools: readonly AskedTool[] = []
    const stream = gateway.streamChat(toChatParams(draft, images, before), { signal })
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

  const last = turns.at(-1)
  return {
    turns,
    isRunning: last?.state === 'waiting' || last?.state === 'streaming',
    send(draft, images) {
      running.current?.abort()
      const controller = new AbortController()
      running.current = controller
      const { prompt, model } = draft
      const turn: Turn = {
        prompt,
        images,
        model,
        answer: '',
        tools: [],
        state: 'waiting',
        figures: undefined,
        requestId: null,
        error: undefined,
      }
      setTurns([...turns, turn])
      void run(draft, images, turns, controller.signal)
    },
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort()
      setTurns([])
    },
  }
}

/** Adds what a chunk says of the tools that the model asks for: their arguments come in pieces. */
function addToolCalls(tools: readonly AskedTool[], delta: ChatDelta | undefined): readonly AskedTool[] {
  if (delta?.tool_calls === undefined) return tools
  const now = [...tools]
  for (const { index, function: called } of delta.tool_calls) {
    const known = now[index] ?? { name: '', arguments: '' }
    now[index] = {
      name: called?.name ?? known.name,
      arguments: known.arguments + (called?.arguments ?? ''),
    }
  }
  return now.filter(each => each !== undefined)
}

function requestIdOf(error: unknown): string | null {
  const { requestId } = (error ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? requestId : null
}
