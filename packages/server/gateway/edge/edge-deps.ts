import type { FormatRegistry } from '@rideau/llm/formats/format-registry'
import type { Prefixes } from '../request/prefixes.ts'
import type { LastUsed } from '../tenants/last-used.ts'
import type { SigningKeys } from '../tenants/signing-keys.ts'
import type { Snapshots } from '../tenants/snapshots.ts'

/** What identification and answers need of the process. */
export interface EdgeDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly newId: () => string
  readonly formats: FormatRegistry
  readonly prefixes: Prefixes
  readonly snapshots: Snapshots
  readonly signingKeys: SigningKeys
  readonly lastUsed: LastUsed
  /** Where `doc_url` points: the control plane as callers reach it. */
  readonly baseUrl: () => string
  /** As callers reach this host: the issuer of client tokens. */
  readonly gatewayUrl: () => string
}
