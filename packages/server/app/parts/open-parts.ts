import { openSecretBox, type SecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { urlBySettings } from '../../http/head/listen.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { openFileSecretBox } from '../../storage/secrets/master-key.ts'
import { openSockets } from '../process/sockets.ts'
import type { Config } from '../settings/settings.ts'
import type { AppOverrides, AppParts } from './app-parts.ts'
import { prepareDataFolder } from './explain-start.ts'
import { openJobs } from './jobs.ts'

type GivenParts = Pick<AppParts, 'config' | 'log' | 'overrides' | 'exceptions' | 'cut' | 'closers'>

/** The URLs of the servers that listen in this process. */
export interface ListeningUrls {
  gateway?: string
  control?: string
}

/** Opens what both planes share, and starts the jobs. `urls` is read whenever a part needs a URL that no setting gives. */
export async function openParts(given: GivenParts, urls: ListeningUrls): Promise<AppParts> {
  const { config, log, overrides, exceptions, cut, closers } = given
  prepareDataFolder(config.dataDir)
  const storage = await openStorage({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    log: line => log.info(line),
  })
  closers.push(() => storage.close())
  const secretBox = openBox(config)
  const newId = openIds(systemClock, systemRandom)
  const egress = openEgress(config, overrides)
  const { idempotencyBytes } = config
  await openJobs({ storage, log, secretBox, newId, egress, idempotencyBytes, closers })
  const sockets = openSockets(config, closers)
  const baseUrl = (): string =>
    config.baseUrl ?? urlBySettings(config.host, config.controlPort) ?? urls.control ?? ''
  const gatewayUrl = (): string =>
    config.gatewayUrl ?? urlBySettings(config.host, config.gatewayPort) ?? urls.gateway ?? ''
  return {
    config,
    log,
    overrides,
    exceptions,
    sockets,
    storage,
    secretBox,
    cut,
    closers,
    egress,
    newId,
    baseUrl,
    gatewayUrl,
  }
}

export function openEgress(
  { allowPrivateUpstreams: allowPrivate }: Config,
  { dnsServers }: AppOverrides,
): EgressPolicy {
  return openConfiguredEgress({ allowPrivate, dnsServers })
}

export function openBox({
  masterKey,
  formerMasterKeys,
  dataDir,
}: Pick<Config, 'masterKey' | 'formerMasterKeys' | 'dataDir'>): SecretBox {
  return masterKey === undefined
    ? openFileSecretBox(dataDir, systemRandom)
    : openSecretBox(masterKey, systemRandom, formerMasterKeys)
}
