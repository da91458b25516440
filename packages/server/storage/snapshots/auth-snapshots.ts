import type { DeviceAuth } from '../../core/tenancy/device-auth.ts'
import type { FederatedConfig } from '../../core/tenancy/federated-config.ts'
import type { FederatedAuthRow } from '../end-users/federated-auth.ts'
import type { DeviceAuthRow } from '../policy-tables.ts'

/** The columns that AUTH_PARTS selects. */
export interface AuthParts {
  readonly federated_auth: Omit<FederatedAuthRow, 'created_at' | 'updated_at'> | null
  readonly device_auth: Pick<
    DeviceAuthRow,
    'ios_team_id' | 'ios_bundle_ids' | 'ios_environment' | 'android_package_names' | 'android_signing_digests'
  > | null
}

/** SQL: how end users of an environment prove who they are, for the select list of a statement over `environments e`. */
export const AUTH_PARTS = `(select to_jsonb(f) from federated_auth f where f.project_id = e.project_id) as federated_auth,
  (select to_jsonb(d) - '{device_check_key_id,device_check_cipher}'::text[] from device_auth d
    where d.project_id = e.project_id) as device_auth`

/** The configuration of a project's identity provider as the verification of tokens takes it. */
export function toFederatedConfig(row: NonNullable<AuthParts['federated_auth']>): FederatedConfig {
  return {
    orgId: row.org_id,
    issuers: row.issuers,
    audiences: row.audiences,
    authorizedParties: row.authorized_parties,
    jwksUrl: row.jwks_url,
    // The schema checked the list when it was written.
    algorithms: row.algorithms as FederatedConfig['algorithms'],
    userIdClaim: row.user_id_claim,
    planClaim: row.plan_claim,
    requiredClaims: row.required_claims,
    clockToleranceSeconds: row.clock_tolerance_seconds,
    maxTokenAgeSeconds: row.max_token_age_seconds,
  }
}

/** Turns the selected columns into the apps whose devices are accepted. */
export function toDeviceAuth(row: NonNullable<AuthParts['device_auth']>): DeviceAuth {
  const { ios_team_id: team, ios_environment: environment, android_package_names: packageNames } = row
  const bundles = row.ios_bundle_ids ?? []
  const ios = team === null || environment === null ? null : { appIds: toAppIds(team, bundles), environment }
  const signingDigests = row.android_signing_digests ?? []
  return { ios, android: packageNames === null ? null : { packageNames, signingDigests } }
}

function toAppIds(team: string, bundles: readonly string[]): string[] {
  return bundles.map(bundle => `${team}.${bundle}`)
}
