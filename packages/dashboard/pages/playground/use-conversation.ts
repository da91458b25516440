import { useEffect, useRef, useState } from 'react'
import type { ChatMessage, ChatUsage, RideauClient } from '../../../sdk/index.ts'
import type { Draft } from './draft.ts'

/** How an answer went, in milliseconds from the moment it was sent. */
export interface AnswerFigures {
  readonly firstTokenMs: number
  readonly totalMs: number
  readonly usage: ChatUsage | undefined
  /** undefined: not known yet. null: the model has no price. */
  readonly costUsd: number | null | undefined
}

export interface Turn {
  readonly prompt: string
  readonly model: string
  readonly answer: string
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  readonly figures: AnswerFigures | undefined
  readonly requestId: string | null
  readonly error: unknown
}

export interface Conversation {
  readonly turns: readonly Turn[]
  readonly isRunning: boolean
  send(draft: Draft): void
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

  const run = async (draft: Draft, before: readonly Turn[], signal: AbortSignal): Promise<void> => {
    const startedAt = performance.now()
    const elapsed = (): number => performance.now() - startedAt
    let answer = ''
    let firstTokenMs: number | undefined
    const stream = gateway.streamChat(
      {
        model: draft.model,
        messages: toMessages(draft, before),
        ...(draft.temperature === '' ? {} : { temperature: Number(draft.temperature) }),
        ...(draft.maxOutputTokens === '' ? {} : { max_output_tokens: Number(draft.maxOutputTokens) }),
      },
      { signal },
    )
    try {
      for await (const { choices, usage, cost_usd } of stream) {
        const text = choices[0]?.delta.content ?? ''
        if (text !== '') firstTokenMs ??= elapsed()
        answer += text
        change({
          answer,
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
    send(draft) {
      running.current?.abort()
      const controller = new AbortController()
      running.current = controller
      const { prompt, model } = draft
      const turn: Turn = {
        prompt,
        model,
        answer: '',
        state: 'waiting',
        figures: undefined,
        requestId: null,
        error: undefined,
      }
      setTurns([...turns, turn])
      void run(draft, turns, controller.signal)
    },
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort()
      setTurns([])
    },
  }
}

function toMessages(draft: Draft, before: readonly Turn[]): ChatMessage[] {
  return [
    ...(draft.system.trim() === '' ? [] : [{ role: 'system', content: draft.system } as const]),
    // A failed prompt has no answer, and is not part of what was said.
    ...before
      .filter(({ answer }) => answer !== '')
      .flatMap(({ prompt, answer }): ChatMessage[] => [
        { role: 'user', content: prompt },
        { role: 'assistant', content: answer },
      ]),
    { role: 'user', content: draft.prompt },
  ]
}

function requestIdOf(error: unknown): string | null {
  const { requestId } = (error ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? requestId : null
}
