import { builtinModules } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { importing, lintFiles, pure, server, typing } from './testing/lint-files.ts'

// An import rule that cannot fail is a defect: each rule gets a file that breaks it and one that keeps it.

const PURE_BUILTINS = new Set([
  'assert',
  'assert/strict',
  'buffer',
  'crypto',
  'string_decoder',
  'url',
  'util',
  'util/types',
  'zlib',
])
// Newer versions of Node list modules that have no other name with their scheme.
const IO_BUILTINS = builtinModules
  .map(name => name.replace(/^node:/, ''))
  .filter(name => !name.startsWith('_') && !PURE_BUILTINS.has(name))
const builtinFile = (parent, name) => `${parent}/builtin-${name.replace('/', '-').replaceAll('_', '-')}.ts`
const BREACHES = {
  'gateway imports control': [
    server('gateway/a.ts'),
    importing('../control/keys/create.ts'),
    'no-restricted-imports',
  ],
  'control imports gateway': [
    server('control/keys/a.ts'),
    importing('../../gateway/x.ts'),
    'no-restricted-imports',
  ],
  'gateway imports control by type': [
    server('gateway/b.ts'),
    typing('../control/x.ts'),
    'no-restricted-imports',
  ],
  'gateway imports storage': [
    server('gateway/c.ts'),
    importing('../storage/keys/keys.ts'),
    'no-restricted-imports',
  ],
  'gateway imports a framework': [server('gateway/d.ts'), importing('fastify'), 'no-restricted-imports'],
  'gateway imports tracing by type': [
    server('gateway/tracing-a.ts'),
    typing('../tracing/open-tracing.ts'),
    'no-restricted-imports',
  ],
  'gateway imports OpenTelemetry by type': [
    server('gateway/tracing-b.ts'),
    typing('@opentelemetry/api'),
    'no-restricted-imports',
  ],
  'tracing imports the gateway by type': [
    server('tracing/a.ts'),
    typing('../gateway/deps.ts'),
    'no-restricted-imports',
  ],
  'tracing loads OpenTelemetry at the start': [
    server('tracing/b.ts'),
    importing('@opentelemetry/api'),
    'no-restricted-imports',
  ],
  'gateway imports a plugin of the framework': [
    server('gateway/e.ts'),
    importing('@fastify/helmet'),
    'no-restricted-imports',
  ],
  'gateway imports the database driver': [server('gateway/f.ts'), importing('pg'), 'no-restricted-imports'],
  'control imports the database driver': [server('control/b.ts'), importing('pg'), 'no-restricted-imports'],
  'identity imports storage': [
    server('identity/a.ts'),
    importing('../storage/tenancy/projects.ts'),
    'no-restricted-imports',
  ],
  'identity imports a plane by type': [
    server('identity/b.ts'),
    typing('../control/operation.ts'),
    'no-restricted-imports',
  ],
  'identity imports the database driver': [server('identity/c.ts'), importing('pg'), 'no-restricted-imports'],
  'core imports storage': [server('core/a.ts'), pure('../storage/keys/keys.ts'), 'no-restricted-imports'],
  'core imports storage by type': [
    server('core/b.ts'),
    typing('../storage/keys/keys.ts'),
    'no-restricted-imports',
  ],
  'a folder of core imports storage by type': [
    server('core/access/a.ts'),
    typing('../../storage/keys/keys.ts'),
    'no-restricted-imports',
  ],
  'a folder of core reads the clock': [
    server('core/attempts/b.ts'),
    'export const now = () => Date.now()',
    'no-restricted-properties',
  ],
  'core imports a package': [server('core/c.ts'), pure('zod'), 'no-restricted-imports'],
  'core imports a scoped package': [server('core/d.ts'), pure('@fastify/helmet'), 'no-restricted-imports'],
  'core imports llm code': [
    server('core/e.ts'),
    pure('@rideau/llm/request/chat-request'),
    'no-restricted-imports',
  ],
  'core reads the clock': [
    server('core/f.ts'),
    'export const now = () => Date.now()',
    'no-restricted-properties',
  ],
  'core rolls dice': [
    server('core/g.ts'),
    'export const roll = () => Math.random()',
    'no-restricted-properties',
  ],
  'core calls fetch': [
    server('core/h.ts'),
    "export const get = () => fetch('http://localhost')",
    'no-restricted-globals',
  ],
  'core imports a built-in without node:': [server('core/i.ts'), pure('fs'), 'no-restricted-imports'],
  'llm imports the server': ['packages/llm/a.ts', pure('@rideau/server/core/fault'), 'no-restricted-imports'],
  'llm imports the server by path': [
    'packages/llm/b.ts',
    pure('../server/core/fault.ts'),
    'no-restricted-imports',
  ],
  'llm imports a test helper': [
    'packages/llm/e.ts',
    pure('./testing/recorded-requests.ts'),
    'no-restricted-imports',
  ],
  'llm imports a package': ['packages/llm/c.ts', pure('undici'), 'no-restricted-imports'],
  'llm waits': [
    'packages/llm/d.ts',
    'export const wait = () => setTimeout(() => {}, 1)',
    'no-restricted-globals',
  ],
  'dashboard imports the server': [
    'packages/dashboard/api/a.ts',
    pure('../../server/core/fault.ts'),
    'no-restricted-imports',
  ],
  'dashboard imports types of the server': [
    'packages/dashboard/api/b.ts',
    typing('@rideau/server/core/fault'),
    'no-restricted-imports',
  ],
  'dashboard imports a built-in module': [
    'packages/dashboard/api/c.ts',
    pure('node:crypto'),
    'no-restricted-imports',
  ],
  'dashboard imports the inside of the client library': [
    'packages/dashboard/api/d.ts',
    pure('../../sdk/transport.ts'),
    'no-restricted-imports',
  ],
  'dashboard imports what holds a secret': [
    'packages/dashboard/api/e.ts',
    pure('../../sdk/server.ts'),
    'no-restricted-imports',
  ],
  'dashboard calls fetch': [
    'packages/dashboard/pages/f.ts',
    "export const get = () => fetch('/v1/orgs')",
    'no-restricted-globals',
  ],
  'sdk imports the server by path': [
    'packages/sdk/a.ts',
    pure('../server/core/fault-table.ts'),
    'no-restricted-imports',
  ],
  'sdk imports the server by name': [
    'packages/sdk/b.ts',
    pure('@rideau/llm/frames/sse'),
    'no-restricted-imports',
  ],
  'sdk imports types of the server': [
    'packages/sdk/generated/c.ts',
    typing('../../server/core/fault-table.ts'),
    'no-restricted-imports',
  ],
  'sdk imports a package': ['packages/sdk/d.ts', pure('openai'), 'no-restricted-imports'],
  'sdk imports a built-in module': ['packages/sdk/e.ts', pure('node:crypto'), 'no-restricted-imports'],
  'sdk imports a test helper': [
    'packages/sdk/f.ts',
    pure('./testing/scripted-server.ts'),
    'no-restricted-imports',
  ],
  'sdk uses a global of Node': [
    'packages/sdk/g.ts',
    "export const bytes = () => Buffer.from('a')",
    'no-restricted-globals',
  ],
  'sdk uses a global of browsers': [
    'packages/sdk/h.ts',
    "export const stored = () => localStorage.getItem('a')",
    'no-restricted-globals',
  ],
  'http imports storage': [
    server('http/a.ts'),
    importing('../storage/keys/keys.ts'),
    'no-restricted-imports',
  ],
  'http imports a framework': [server('http/b.ts'), importing('fastify'), 'no-restricted-imports'],
  'storage imports control': [server('storage/a.ts'), importing('../control/x.ts'), 'no-restricted-imports'],
  'a folder of storage imports the ledger by type': [
    server('storage/keys/a.ts'),
    typing('../../ledger/ledger.ts'),
    'no-restricted-imports',
  ],
  'storage imports http': [server('storage/b.ts'), importing('../http/x.ts'), 'no-restricted-imports'],
  'journal imports storage': [server('journal/a.ts'), importing('../storage/x.ts'), 'no-restricted-imports'],
  'ledger imports storage by type': [
    server('ledger/a.ts'),
    typing('../storage/x.ts'),
    'no-restricted-imports',
  ],
  'redis imports the ledger': [
    server('redis/a.ts'),
    importing('../ledger/ledger.ts'),
    'no-restricted-imports',
  ],
  'the channel of workers imports the ledger': [
    server('workers/channel/a.ts'),
    importing('../../ledger/ledger.ts'),
    'no-restricted-imports',
  ],
  'messages of workers import the gateway': [
    server('workers/messages/a.ts'),
    importing('../../gateway/x.ts'),
    'no-restricted-imports',
  ],
  'ledger imports the database driver': [server('ledger/b.ts'), importing('pg'), 'no-restricted-imports'],
  'gateway reads the settings': [
    server('gateway/g.ts'),
    importing('../app/settings/settings.ts'),
    'no-restricted-imports',
  ],
  'storage reads the settings by type': [
    server('storage/c.ts'),
    typing('../app/settings/settings.ts'),
    'no-restricted-imports',
  ],
  'embedded reads the settings': [
    server('storage/embedded/a.ts'),
    importing('../../app/settings/settings.ts'),
    'no-restricted-imports',
  ],
  'control reads the environment': [
    server('control/c.ts'),
    'export const home = process.env.HOME',
    'no-process-env',
  ],
  'gateway imports test helpers': [
    server('gateway/h.ts'),
    importing('../testing/harness/app.ts'),
    'no-restricted-imports',
  ],
  'gateway starts a process': [
    server('gateway/i.ts'),
    importing('node:child_process'),
    'no-restricted-imports',
  ],
  'storage starts a process outside embedded': [
    server('storage/d.ts'),
    importing('node:child_process'),
    'no-restricted-imports',
  ],
  'worker processes make code': [
    server('workers/processes/b.ts'),
    importing('node:vm'),
    'no-restricted-imports',
  ],
  'worker processes import the ledger': [
    server('workers/processes/c.ts'),
    importing('../../ledger/ledger.ts'),
    'no-restricted-imports',
  ],
  'messages of workers start a process': [
    server('workers/messages/b.ts'),
    importing('node:child_process'),
    'no-restricted-imports',
  ],
  'embedded makes code': [server('storage/embedded/b.ts'), importing('node:vm'), 'no-restricted-imports'],
  'main makes code': [server('main.ts'), importing('vm'), 'no-restricted-imports'],
}

const ALLOWED = {
  'core imports its own files, pure built-ins and types of llm': [
    server('core/ok.ts'),
    `${pure('./fault.ts', '../core/fault.ts', 'node:crypto', 'node:zlib', 'node:buffer')}\n${typing('@rideau/llm/request/chat-request')}`,
  ],
  'a folder of core imports another one': [
    server('core/models/ok.ts'),
    pure('../access/authorize.ts', '../refusal.ts'),
  ],
  'a folder of storage imports another one and core': [
    server('storage/events/ok.ts'),
    importing('../policies/budgets.ts', '../pool.ts', '../../core/limits/meter.ts'),
  ],
  'llm imports its own files and the catalogue': [
    'packages/llm/formats/ok.ts',
    pure('../request/chat-request.ts', '../../../catalog/sandbox.json', 'node:crypto'),
  ],
  'dashboard imports the entry of the client library and the types of the API': [
    'packages/dashboard/api/ok.ts',
    `${pure('../../sdk/index.ts', 'openapi-fetch', './client.ts')}\n${typing('../../sdk/generated/control-api.ts')}`,
  ],
  'sdk imports its own files': [
    'packages/sdk/ok.ts',
    pure('./errors.ts', './from-backend.ts', './generated/error-codes.ts'),
  ],
  'gateway imports core, http, llm, undici and the types of its stores': [
    server('gateway/ok.ts'),
    `${importing('../core/fault.ts', '../http/answer/envelope.ts', '@rideau/llm/request/chat-request', 'undici', 'node:http')}\n${typing('../storage/keys/keys.ts')}`,
  ],
  'control imports storage, http and the framework': [
    server('control/keys/ok.ts'),
    importing(
      '../../storage/keys/keys.ts',
      '../../http/answer/envelope.ts',
      '../routes.ts',
      'fastify',
      'zod',
    ),
  ],
  'embedded starts processes': [
    server('storage/embedded/ok.ts'),
    importing('node:child_process', '../pool.ts'),
  ],
  'a supervisor forks workers': [
    server('workers/processes/ok.ts'),
    importing('node:child_process', '../../core/clock.ts'),
  ],
  'app wires all': [
    server('app/app.ts'),
    `${importing('./settings.ts', '../gateway/x.ts', '../control/x.ts', '../storage/x.ts')}\nconsole.log(process.env.HOME)`,
  ],
  'tracing knows OpenTelemetry by type': [server('tracing/ok.ts'), typing('@opentelemetry/api')],
  'identity reads core and http': [
    server('identity/ok.ts'),
    importing('../core/fault.ts', '../http/egress/egress.ts', 'jose'),
  ],
  'a test reaches anywhere': [
    server('core/ok.test.ts'),
    importing('../storage/x.ts', 'node:child_process', '../app/settings/settings.ts'),
  ],
}

const BUILTIN_FILES = ['packages/llm', server('core')].flatMap(parent =>
  IO_BUILTINS.map(name => [builtinFile(parent, name), pure(`node:${name}`)]),
)

let broken
beforeAll(() => {
  broken = lintFiles([...Object.values(BREACHES), ...Object.values(ALLOWED), ...BUILTIN_FILES])
})

describe('the linter refuses', () => {
  test.each(Object.entries(BREACHES))('%s', (_, [file, , rule]) => {
    expect([...(broken.get(file) ?? [])]).toContain(rule)
  })

  test.each(['packages/llm', server('core')])('every built-in module of Node that does I/O in %s', parent => {
    const missed = IO_BUILTINS.filter(
      name => !broken.get(builtinFile(parent, name))?.has('no-restricted-imports'),
    )
    expect(missed).toEqual([])
  })
})

describe('the linter lets pass', () => {
  test.each(Object.entries(ALLOWED))('%s', (_, [file]) => {
    expect([...(broken.get(file) ?? [])]).toEqual([])
  })
})
