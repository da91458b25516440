import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'

/** Who asks and where: part of the context of a request. */
export interface Requester {
  readonly caller: Caller
  readonly environment: Environment
}
