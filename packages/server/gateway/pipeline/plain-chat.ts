import type { PlainAnswer } from '@rideau/llm/formats/shared/answers/plain-answer'
import type { Target } from '@rideau/llm/upstream/target'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { attemptPlain } from '../attempts/attempt-plain.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { toBill } from '../billing/bill.ts'
import { hasVisibleOutput, hasVisibleReasoning } from '../billing/visible-output.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { ChatCall } from './chat-call.ts'
import { sendAnswer } from './send-answer.ts'

/** A chat that is answered as a whole. Sends the provider's own bytes if the formats agree. */
export class PlainChat extends ChatCall<PlainAnswer> {
  async attempt(target: Target, resolved: ChatTarget): Promise<AttemptResult<PlainAnswer>> {
    const attempt = this.toAttempt(target, resolved)
    return this.conclude(await attemptPlain(attempt instanceof Promise ? await attempt : attempt))
  }

  async answer(answer: PlainAnswer): Promise<void> {
    const { ctx } = this
    const { usage } = answer.reply
    const ownBill = toBill(this.target.catalogModel, usage, {
      requestBytes: this.requestBytes,
      inputTokens: this.inputTokens,
      deliveredTokens: estimateTokens(answer.bytes.length),
      choices: this.choices,
      hasVisibleOutput: hasVisibleOutput(answer.reply),
      hasVisibleReasoning: hasVisibleReasoning(answer.reply),
      reservedTokens: this.reservedTokens,
    })
    const bill = this.warnIfNotCredible(usage, ownBill)
    ctx.recordFields.answered = bill
    const body = this.server.encodeReply(this.replyContext, answer, bill)
    const finishReason = answer.reply.choices[0]?.finishReason ?? 'stop'
    const outcome = { status: 200, bill, finishReason }
    await sendAnswer(ctx, body, { headers: this.headers('application/json'), outcome }, this.deps)
  }
}
