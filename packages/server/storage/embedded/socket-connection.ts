/** A PostgreSQL server on this machine, reached by a Unix socket (`host` is its folder) without a password. */
export interface SocketConnection {
  readonly host: string
  /** Names the socket's file; nothing listens on a TCP port. */
  readonly port: number
  readonly user: string
  readonly database: string
}

/** The name of this process's sessions on the embedded server, which several processes of one machine may share. */
export const OWN_SESSIONS = `rideau ${process.pid}`
