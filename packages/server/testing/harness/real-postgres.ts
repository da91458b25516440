import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { canReach, chooseAccount } from '../../storage/embedded/account.ts'
import { createCluster, writeAccessRules } from '../../storage/embedded/cluster.ts'
import { launchServer, stopServer } from '../../storage/embedded/server.ts'
import type { SocketConnection } from '../../storage/embedded/socket-connection.ts'
import { findInstalledPostgres } from './installed-postgres.ts'

export interface RealPostgres {
  readonly major: number
  readonly connection: SocketConnection
  stop(): Promise<void>
}

/** Starts a temporary server of the newest PostgreSQL on this machine; undefined if none is installed. */
export async function startRealPostgres(
  within: string,
  settings: Readonly<Record<string, string>>,
): Promise<RealPostgres | undefined> {
  const installed = findInstalledPostgres()
  if (installed === undefined) return undefined
  const { major, binDir } = installed
  const home = mkdtempSync(join(within, 'rideau-real-'))
  chmodSync(home, 0o755)
  const dir = join(home, 'data')
  const account = chooseAccount(dir)
  const reachable = !account.switched || canReach(home, account)
  await createCluster({ binDir, dir, account, reachable, initArgs: ['--locale=C', '--no-sync'] })
  writeAccessRules(dir, account)
  const server = await launchServer({
    binDir,
    cluster: { dir, name: 'rideau-real' },
    account,
    reachable,
    socketDir: join(home, 'socket'),
    logFile: join(home, 'postgres.log'),
    settings,
  })
  return {
    major,
    connection: { host: server.socketDir, port: server.port, user: 'postgres', database: 'postgres' },
    async stop() {
      await stopServer(server.pid, 'SIGQUIT')
      rmSync(home, { recursive: true, force: true })
    },
  }
}
