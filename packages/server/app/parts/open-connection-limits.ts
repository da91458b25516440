import { ConnectionLimits } from '../../http/fairness/connection-limits.ts'
import type { Config } from '../settings/settings.ts'

/** The part of the gateway's connections that the control plane may have besides, for people and their tools. */
const CONTROL_PART = 1 / 8
const MIN_CONTROL = 64

/** Returns the bounds on the connections of a plane's server. */
export function openConnectionLimits(
  { frontDoor, trustedProxies }: Config,
  plane: 'gateway' | 'control',
): ConnectionLimits {
  const { connections, connectionsPerAddress: perAddress } = frontDoor
  const ofControl = Math.max(MIN_CONTROL, Math.floor(connections * CONTROL_PART))
  return new ConnectionLimits({
    max: plane === 'gateway' ? connections : ofControl,
    perAddress,
    trustedProxies,
  })
}
