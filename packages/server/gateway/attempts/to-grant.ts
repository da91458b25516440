import { isProvidersOwn } from '@rideau/llm/upstream/base-address'
import type { MediaAddresses } from '@rideau/llm/upstream/media-addresses'
import { toWireModel } from '@rideau/llm/upstream/openai-address'
import type { Grant, Sender } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'

interface GrantInput {
  readonly isStream: boolean
  /** Answers, or images, that the reservation covers. */
  readonly choices: number
  readonly maxOutputTokens: number | undefined
  readonly modelMaxOutput?: number | undefined
  /** Types of tools that the provider may run. */
  readonly hostedTools?: ReadonlySet<string> | undefined
}

/** Of a call without choices, a stream or an output cap. */
export const ONE_ANSWER: GrantInput = { isStream: false, choices: 1, maxOutputTokens: undefined }

/** Returns what the body of one attempt may ask for: authorizeRequest refuses one that asks for more. */
export function toGrant(sender: Sender, target: Target, granted: GrantInput): Grant {
  const { isStream, choices, maxOutputTokens, modelMaxOutput, hostedTools } = granted
  const addresses = toMediaAddresses(sender, target)
  const model = toWireModel(target)
  const hasPlainTexts = isOfPlainTexts(target)
  return {
    sender,
    model,
    isStream,
    choices,
    maxOutputTokens,
    modelMaxOutput,
    hostedTools,
    addresses,
    hasPlainTexts,
  }
}

/** What a server of the owner's reads in a text is unknown. */
function isOfPlainTexts({ provider, baseUrl }: Target): boolean {
  return provider.openai?.readsFileIds !== true && isProvidersOwn(provider, baseUrl)
}

/** Returns which addresses of images and files may reach the target's provider, which would fetch them from where it runs. */
export function toMediaAddresses(sender: Sender, { provider, baseUrl }: Target): MediaAddresses {
  if (sender === 'key') return 'any'
  return isProvidersOwn(provider, baseUrl) ? 'public' : 'none'
}
