import { type BucketKind, FrontDoor } from '../../gateway/edge/front-door.ts'
import type { Ticker } from '../../gateway/request/ticker.ts'
import { connectRates } from '../../workers/messages/rates.ts'
import type { AppParts } from './app-parts.ts'

/** Opens the front door. Those of a machine's workers report to each other what they admit. */
export function openFrontDoor({ config, log, worker }: AppParts, ticker: Ticker): FrontDoor {
  const { frontDoor: limits, trustedProxies } = config
  const sharing =
    worker &&
    connectRates<BucketKind>(worker.calls, (kind, key, count) =>
      frontDoor.takeReported(kind, key, count, performance.now()),
    )
  const frontDoor = new FrontDoor({ limits, trustedProxies, ticker, log, sharing })
  return frontDoor
}
