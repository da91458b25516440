import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { expect } from 'vitest'
import type { UpstreamHandler } from '../../gateway/upstream/transport.ts'

/** Returns a handler that resolves with the text of the answer, or with how the call failed. */
export function toTextHandler(
  resolve: (result: string | UpstreamError) => void,
  isStream = false,
): UpstreamHandler {
  let text = ''
  return {
    ...(isStream ? { isStream } : {}),
    onStart: () => {},
    onData: chunk => {
      text += chunk.toString()
    },
    onEnd: () => resolve(text),
    onFail: resolve,
    onCrash: error => expect.unreachable(String(error)),
  }
}
