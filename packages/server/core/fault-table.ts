import type { FaultType } from '@rideau/llm/formats/shared/errors/served-fault'

export interface FaultEntry {
  readonly status: number
  readonly type: FaultType
  /** When the error is returned, as printed in docs/errors.md and by `GET /docs/errors`. */
  readonly condition: string
}

/** Every error code of the gateway and the control plane. docs/errors.md is generated from it. */
export const FAULTS = {
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'The body fails schema validation; `param` names the field.',
  },
  request_validation_failed: {
    status: 400,
    type: 'invalid_request_error',
    condition:
      'Malformed JSON, a key given twice, a field name or a number that is too long, or an invalid path, query or header.',
  },
  model_missing_capability: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'The model lacks a requested capability (tools, response_format).',
  },
  provider_credential_missing: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'The environment holds no provider credential for the resolved provider.',
  },
  request_canceled: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'Canceled via the cancel route or by client disconnect.',
  },
  invalid_scope: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'Empty or unknown scope; `param` is `scopes`.',
  },
  attributes_too_large: {
    status: 400,
    type: 'invalid_request_error',
    condition: '`end_user.attributes` is over 4096 bytes.',
  },
  federated_auth_not_configured: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'An identity token was sent, but the project has no federated auth.',
  },
  federated_config_invalid: {
    status: 400,
    type: 'invalid_request_error',
    condition: "The project's federated configuration is invalid.",
  },
  device_attest_not_configured: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'Device auth is not enabled for the project.',
  },
  provider_rejected: {
    status: 400,
    type: 'invalid_request_error',
    condition:
      "The provider refused the request as invalid; for secret keys and members `provider_message` has the provider's own message.",
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    condition: 'More input than the model takes.',
  },
  content_filtered: {
    status: 400,
    type: 'invalid_request_error',
    condition: "The provider's content policy refused the request.",
  },
  model_unpriced: {
    status: 400,
    type: 'invalid_request_error',
    condition:
      "A budget, a plan's spend or a maximum request cost applies and the model's price is unknown: give it one by custom-models. `param` is `model`.",
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    condition: 'The request did not arrive in time.',
  },
  resource_conflict: {
    status: 409,
    type: 'invalid_request_error',
    condition:
      "A unique name, slug or invitation is taken, the resource's state forbids the change, it was changed after the version that `If-Match` names, or, with `Retry-After`, another call of the same moment was first.",
  },
  request_too_large: {
    status: 413,
    type: 'invalid_request_error',
    condition:
      'Body or headers over the limit: bytes, how far gzip unpacks, or how many values and fields the JSON holds.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    condition: 'The body is not JSON, or not multipart/form-data on image edits and transcriptions.',
  },
  unauthenticated: {
    status: 401,
    type: 'authentication_error',
    condition: 'No credential on a route that needs one.',
  },
  invalid_key: {
    status: 401,
    type: 'authentication_error',
    condition: 'The credential is not recognized by this host.',
  },
  key_expired: {
    status: 401,
    type: 'authentication_error',
    condition: 'The key or token is past its expiry.',
  },
  key_revoked: {
    status: 401,
    type: 'authentication_error',
    condition: 'The key was revoked, or what it belongs to was deleted.',
  },
  invalid_identity_token: {
    status: 401,
    type: 'authentication_error',
    condition: "The identity provider's token is invalid.",
  },
  invalid_device_attestation: {
    status: 401,
    type: 'authentication_error',
    condition: 'Device attestation or assertion failed; the reason is never returned.',
  },
  sign_in_failed: {
    status: 401,
    type: 'authentication_error',
    condition: 'The e-mail address or the password is wrong.',
  },
  endpoint_not_allowed: {
    status: 403,
    type: 'permission_error',
    condition: "The credential's kind, scopes or endpoint allow-list exclude the endpoint.",
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    condition: "The key's, environment's or plan's model allow-list excludes the model.",
  },
  end_user_blocked: { status: 403, type: 'permission_error', condition: 'The end user is blocked.' },
  insufficient_role: {
    status: 403,
    type: 'permission_error',
    condition: 'The member or management key lacks the role.',
  },
  client_token_cannot_mint: {
    status: 403,
    type: 'permission_error',
    condition: 'A client token tried to mint.',
  },
  publishable_key_required: {
    status: 403,
    type: 'permission_error',
    condition: 'A device route was called with another credential.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    condition: 'A browser origin that the project does not list.',
  },
  csrf_failed: {
    status: 403,
    type: 'permission_error',
    condition: 'An unsafe call by cookie without the header or from another origin.',
  },
  setup_closed: {
    status: 403,
    type: 'permission_error',
    condition: 'First-run set-up is over, or its token is wrong.',
  },
  route_not_found: { status: 404, type: 'not_found_error', condition: 'No route for method and path.' },
  model_not_found: {
    status: 404,
    type: 'not_found_error',
    condition:
      'No provider has a model of this bare name, or the provider does not know the model that was named for it; `param` is `model`.',
  },
  no_eligible_target: {
    status: 404,
    type: 'not_found_error',
    condition: 'The alias resolved, but no target is usable (capability or credential missing).',
  },
  embeddings_not_supported: {
    status: 404,
    type: 'not_found_error',
    condition: 'The model has no embeddings API.',
  },
  resource_not_found: {
    status: 404,
    type: 'not_found_error',
    condition: 'The id names nothing that the caller may see.',
  },
  idempotency_conflict: {
    status: 409,
    type: 'idempotency_error',
    condition: 'The Idempotency-Key was used with a different body.',
  },
  budget_exceeded: { status: 402, type: 'budget_error', condition: 'A spend cap is reached.' },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    condition:
      'A requests- or tokens-per-window limit is exceeded, or a credential or address sends too many requests per second.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    condition: 'Too many requests are in flight at once, or their bodies are too large together.',
  },
  end_user_rpm_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    condition: 'An end user exceeded the per-minute limit.',
  },
  mint_rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    condition: 'The mint or device-challenge rate is exceeded.',
  },
  control_rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    condition:
      'Too many control-plane calls, sign-ins or calls without a valid credential, or too large bodies at once.',
  },
  quota_exceeded: {
    status: 429,
    type: 'quota_error',
    condition: "The window's token or request quota is exhausted.",
  },
  provider_unavailable: {
    status: 503,
    type: 'provider_error',
    condition: 'The provider is unreachable or failing after retries and fallback.',
  },
  provider_overloaded: {
    status: 503,
    type: 'provider_error',
    condition: 'The provider signalled overload and no fallback succeeded.',
  },
  provider_auth_failed: {
    status: 502,
    type: 'provider_error',
    condition: 'The provider refused the stored credential.',
  },
  timeout: {
    status: 502,
    type: 'provider_error',
    condition: 'The provider did not answer within the timeout of the attempt.',
  },
  stream_interrupted: {
    status: 502,
    type: 'provider_error',
    condition: "The provider's stream ended early, or the gateway stopped; sent as the stream's last frame.",
  },
  signing_key_unavailable: {
    status: 503,
    type: 'internal_error',
    condition: 'Client-token signing is temporarily unavailable.',
  },
  internal_error: {
    status: 500,
    type: 'internal_error',
    condition: 'An unexpected error; details are only in the server logs.',
  },
  config_unavailable: {
    status: 500,
    type: 'internal_error',
    condition: "The environment's configuration could not be loaded; transient.",
  },
} as const satisfies Record<string, FaultEntry>

export type FaultCode = keyof typeof FAULTS
