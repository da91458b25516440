/** Options of initdb. The builtin locale, because an update of libc or ICU can change the sort order below an index. */
export const INIT_ARGS = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Server settings for one application on a small machine. Durability is PostgreSQL's own default. */
export const SETTINGS = {
  shared_buffers: '128MB',
  // Those of a supervisor and its gateway workers (app/workers/worker-app.ts).
  max_connections: '100',
  // The plan of a look-up by X-Request-Id locks each day of the request log with all its indexes: some 5,500 locks for a year.
  max_locks_per_transaction: '256',
  io_method: 'sync',
  jit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_wal_size: '512MB',
  min_wal_size: '64MB',
  // A container's /dev/shm has 64 MB, and segments there survive a kill -9.
  dynamic_shared_memory_type: 'mmap',
  autovacuum_max_workers: '1',
  huge_pages: 'off',
}
