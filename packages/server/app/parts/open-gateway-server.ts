import type { GatewayDeps } from '../../gateway/deps.ts'
import type { FrontDoor } from '../../gateway/edge/front-door.ts'
import { createGatewayServer } from '../../gateway/server.ts'
import { listen } from '../../http/head/listen.ts'
import { createRegistry, type Reading } from '../../http/metrics/metrics.ts'
import { connectHoldings } from '../../workers/messages/holdings.ts'
import { connectMetrics } from '../../workers/messages/metrics.ts'
import { closeGateway } from '../process/close-server.ts'
import type { AppParts } from './app-parts.ts'
import type { LocalGateway } from './gateway.ts'
import { listReadings, type MetricsSources, openMetrics } from './metrics.ts'
import { openConnectionLimits } from './open-connection-limits.ts'
import type { Records } from './records.ts'

/** Opens the server of the gateway, which does not listen yet, and its metrics. */
export async function openGatewayServer(
  parts: AppParts,
  deps: GatewayDeps & { readonly frontDoor: FrontDoor },
  measured: Pick<MetricsSources, 'counting' | 'tracing'> & { readonly records: Records },
): Promise<Pick<LocalGateway, 'server' | 'listen' | 'close' | 'metricsUrl' | 'readMetrics'>> {
  const { config, overrides, exceptions, sockets } = parts
  const { sendTimeouts } = sockets
  const { runningRequests } = deps
  const server = createGatewayServer(deps)
  sendTimeouts.watch(server)
  const connections = openConnectionLimits(config, 'gateway')
  connections.guard(server)
  if (parts.worker !== undefined) {
    const { requests, bytes, answers } = deps.frontDoor.process
    const shared = connectHoldings(
      parts.worker.calls,
      [requests, bytes, answers, connections.all],
      exceptions.note,
    )
    parts.closers.push(() => shared.close())
  }
  const readings = listReadings({ ...deps, ...measured, connections, exceptions, sendTimeouts })
  const onError = (error: Error): void => exceptions.note(error, 'the listener of the gateway')
  return {
    ...(await startMetrics(parts, readings)),
    server,
    listen: () => listen(server, config.host, config.gatewayPort, onError),
    close: () => closeGateway(server, runningRequests, { graceMs: overrides.graceMs, cut: parts.cut }),
  }
}

/** Starts the metrics and returns their URL. Those of a worker are served by its supervisor. */
async function startMetrics(
  { config, log, exceptions, closers, worker }: AppParts,
  readings: readonly Reading[],
): Promise<{ readonly metricsUrl: string | undefined; readonly readMetrics: () => Promise<unknown> }> {
  const registry = createRegistry(readings)
  const readMetrics = (): Promise<unknown> => registry.getMetricsAsJSON()
  if (worker !== undefined) {
    connectMetrics(worker.calls, readMetrics)
    return { metricsUrl: undefined, readMetrics }
  }
  const { metricsHost: host, metricsPort: port } = config
  const metrics = await openMetrics({ host, port, log, onException: exceptions.note, readings })
  closers.push(() => metrics.close())
  return { metricsUrl: metrics.url, readMetrics }
}
