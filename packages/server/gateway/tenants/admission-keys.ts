import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'

/** Under which keys the requests of a credential are counted by the front door, made once for a tenant. */
export interface AdmissionKeys {
  readonly org: string
  readonly environment: string
  /** A secret key, or all client tokens that one key minted. */
  readonly credential: string
  /** The end user of a client token, whose tokens are counted together; undefined: a key. */
  readonly endUser: string | undefined
}

/** Ids of organizations, environments and keys are UUIDs, so no end user's id can make two of these texts equal. */
export function toAdmissionKeys({ keyId, endUser }: Caller, { id, orgId }: Environment): AdmissionKeys {
  const org = `o:${orgId}`
  const environment = `e:${id}`
  if (endUser === null) return { org, environment, credential: `k:${keyId}`, endUser: undefined }
  // Members make tokens for themselves, without a key.
  return { org, environment, credential: `t:${keyId ?? id}`, endUser: `u:${id}:${endUser.id}` }
}
