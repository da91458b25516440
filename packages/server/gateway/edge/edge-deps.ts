import type { FormatRegistry } from '@rideau/llm/formats/format-registry'
import type { Tracer } from '../../core/records/tracer.ts'
import type { Prefixes } from '../request/prefixes.ts'
import type { LastUsed } from '../tenants/last-used.ts'
import type { SigningKeys } from '../tenants/signing-keys.ts'
import type { Snapshots } from '../tenants/snapshots.ts'
import type { FrontDoor } from './front-door.ts'

/** What identifying callers and sending answers needs of the process. */
export interface EdgeDeps {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly newId: () => string
  readonly formats: FormatRegistry
  readonly prefixes: Prefixes
  readonly snapshots: Snapshots
  readonly signingKeys: SigningKeys
  readonly lastUsed: LastUsed
  readonly frontDoor: FrontDoor
  /** undefined: traces are off. */
  readonly tracer: Tracer | undefined
  /** The URL of the control plane as callers reach it. `doc_url` of errors points there. */
  readonly baseUrl: () => string
  /** The URL of the gateway as callers reach it. It is the issuer of client tokens. */
  readonly gatewayUrl: () => string
}
