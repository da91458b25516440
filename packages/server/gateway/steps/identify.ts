import { hash } from 'node:crypto'
import { refuseDeadKey, refuseEndpoint, refuseOrigin } from '../../core/authorize.ts'
import { Fault } from '../../core/fault.ts'
import { parseKeyText } from '../../core/key-format.ts'
import type { Refusal } from '../../core/verdict.ts'
import { parseBearer } from '../../http/request-headers.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from '../exchange.ts'
import type { Tenant } from '../snapshots.ts'

/**
 * Credential to tenant, before the body is read: an unknown caller costs no body, no parse, no database.
 * Synchronous where the key is in memory, which is nearly always.
 */
export function identify(x: Exchange, deps: GatewayDeps): void | Promise<void> {
  const token = parseBearer(x.req.headers.authorization)
  if (token === undefined) {
    throw new Fault('unauthenticated', 'Send a secret key or client token as "Authorization: Bearer …".')
  }
  const digest = hash('sha256', token, 'hex')
  const known = deps.snapshots.find(digest)
  if (known !== undefined) return accept(x, known, deps)
  return identifySlowly(x, token, digest, deps)
}

async function identifySlowly(x: Exchange, token: string, digest: string, deps: GatewayDeps): Promise<void> {
  const form = parseKeyText(token)
  // A management key is nothing to this host; a mistyped key is told from an unknown one without asking anybody.
  if (form === undefined || form.kind === 'management') throw unknownKey()
  const tenant = await deps.snapshots.load(digest)
  if (tenant === undefined) throw unknownKey()
  accept(x, tenant, deps)
}

function accept(x: Exchange, tenant: Tenant, deps: GatewayDeps): void {
  const { key, environment } = tenant
  const now = deps.now()
  refuse(refuseDeadKey(key, environment, now))
  deps.lastUsed.note(key.id, now)
  x.key = key
  x.environment = environment
  refuse(refuseEndpoint(key, x.route.need))
  refuse(refuseOrigin(environment, x.req.headers.origin))
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal === undefined) return
  const { code, message, param } = refusal
  throw new Fault(code, message, param === undefined ? {} : { param })
}

function unknownKey(): Fault {
  return new Fault('invalid_key', 'This host does not recognize the credential.')
}
