import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SupervisorChannel } from '../../workers/channel/supervisor-channel.ts'
import { WorkerChannel, type WorkerChannelOptions } from '../../workers/channel/worker-channel.ts'
import { ProcessLedger, type ProcessLedgerOptions } from '../process/process-ledger.ts'
import { serveLedger } from '../socket/serve-ledger.ts'
import { SocketLedger } from '../socket/socket-ledger.ts'
import { openSeeds } from './make-meter.ts'

/** The ledger of a worker, and its channel. */
export interface TestWorker {
  readonly ledger: SocketLedger
  readonly channel: WorkerChannel
}

/** A supervisor that counts for workers. Worker processes connect to `path`. */
export interface TestSupervisor {
  readonly ledger: ProcessLedger
  readonly channel: SupervisorChannel
  readonly path: string
  close(): Promise<void>
}

/** Later than any request of a test, so that every counter is seeded. */
const NEVER = 2_000_000_000_000

export async function openTestSupervisor(
  options: Partial<ProcessLedgerOptions> = {},
): Promise<TestSupervisor> {
  const folder = mkdtempSync(join(tmpdir(), 'rideau-channel-'))
  const ledger = new ProcessLedger({
    seeds: openSeeds(),
    onThresholdCrossed: () => {},
    ...options,
    owner: 'supervisor',
    openedAt: NEVER,
    hasWorkers: true,
    isTimeGiven: true,
  })
  const channel = await SupervisorChannel.open({ folder, log: () => {} })
  // Before every lease: tests expire them by themselves.
  const endService = serveLedger(channel, ledger, { now: () => 0 })
  return {
    ledger,
    channel,
    path: channel.path,
    async close() {
      endService()
      await channel.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Opens the ledger of a worker and waits until it counts. */
export async function openTestWorker(
  path: string,
  worker: string,
  options: Partial<WorkerChannelOptions> = {},
): Promise<TestWorker> {
  const channel = new WorkerChannel({ path, worker, log: () => {}, ...options })
  const ledger = new SocketLedger({ owner: worker, channel })
  if (!(await channel.whenOpen(10_000))) throw new Error(channel.reason)
  return { ledger, channel }
}
