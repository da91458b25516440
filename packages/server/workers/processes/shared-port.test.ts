import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { openSharedPort } from './shared-port.ts'

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

test('rejects a port that is taken with EADDRINUSE', async () => {
  const { server, port } = await listen()
  await expect(openSharedPort('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await new Promise(resolve => server.close(resolve))
})

test('with patience binds a port once its previous process has closed it', async () => {
  const { server, port } = await listen()
  const opening = openSharedPort('127.0.0.1', port, 60_000)
  let isOpen = false
  void opening.then(() => {
    isOpen = true
  })
  // Its first attempt has been made by then.
  await new Promise(resolve => setImmediate(resolve))
  expect(isOpen).toBe(false)
  server.close()
  const shared = await opening
  expect(shared.address.port).toBe(port)
  shared.close()
})
