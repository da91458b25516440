import { findProvider } from '@rideau/llm/providers/index'
import { toModelsBaseUrl } from '@rideau/llm/upstream/base-address'
import { chargeLookupsTo } from '../../http/egress/egress.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import type { Services } from '../operation/operation.ts'
import { type CheckOutcome, checkCredential, UNREACHED } from './check-credential.ts'
import type { CredentialInput } from './new-credential.ts'

/** How long the creation of a credential waits for its provider. */
const TIMEOUT_MS = 5_000

/**
 * Checks a key with its provider before it is stored, within 5 seconds. Never rejects: a credential is stored whatever its
 * provider answers. Call it before the first statement, so that no connection is held meanwhile.
 */
export async function checkNewCredential(
  { egress, clock, hostSlots }: Pick<Services, 'egress' | 'clock' | 'hostSlots'>,
  orgId: string,
  input: CredentialInput,
): Promise<CheckOutcome> {
  const timedOut = { error: UNREACHED.timeout, models: undefined }
  let timer: NodeJS.Timeout | undefined
  // A key may be exchanged for a token first, so the two requests together may take longer than each may.
  const limit = new Promise<CheckOutcome>(resolve => {
    timer = setTimeout(resolve, TIMEOUT_MS, timedOut)
  })
  try {
    const checking = hostSlots.run(orgId, () => check(input, egress, orgId, clock.now()))
    return await Promise.race([checking, limit])
  } catch {
    return { error: 'This credential could not be checked.', models: undefined }
  } finally {
    clearTimeout(timer)
  }
}

async function check(
  { provider: id, baseUrl: ownBaseUrl, apiKey, options }: CredentialInput,
  egress: Services['egress'],
  orgId: string,
  nowMs: number,
): Promise<CheckOutcome> {
  const provider = findProvider(id)
  if (provider === undefined) throw new Error(`a parsed credential of an unknown provider: ${id}`)
  const baseUrl = toModelsBaseUrl(provider, ownBaseUrl, options)
  const policy = chargeLookupsTo(egress, toLookupOwner(orgId))
  return await checkCredential({ provider, baseUrl, apiKey, options }, policy, TIMEOUT_MS, nowMs)
}
