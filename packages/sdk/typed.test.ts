import { expect, expectTypeOf, test } from 'vitest'
import {
  type ChatAnswer,
  type ChatChunk,
  type ClientToken,
  type ControlClient,
  type ErrorCode,
  fromBackend,
  fromDevice,
  fromIdentityToken,
  isRideauError,
  type MintedClientToken,
  type RideauApiError,
  RideauClient,
  RideauError,
  RideauServer,
} from './server.ts'

// The compiler proves this file. It only runs to show that what the package exports is there.

declare const control: ControlClient

export async function proveTypes(client: RideauClient, server: RideauServer, error: unknown): Promise<void> {
  expectTypeOf(client.chat).returns.resolves.toEqualTypeOf<ChatAnswer>()
  for await (const chunk of client.streamChat({ model: 'm', messages: [] })) {
    expectTypeOf(chunk).toEqualTypeOf<ChatChunk>()
  }
  // @ts-expect-error: a role that does not exist
  await client.chat({ model: 'm', messages: [{ role: 'robot', content: 'a' }] })
  // @ts-expect-error: a tool's answer names its call
  await client.chat({ model: 'm', messages: [{ role: 'tool', content: 'a' }] })
  // @ts-expect-error: whether to stream is the method's choice
  await client.chat({ model: 'm', messages: [], stream: true })

  const minted = await server.mintClientToken({ endUser: { id: 'a' }, scopes: ['ai.chat'] })
  expectTypeOf(minted).toEqualTypeOf<MintedClientToken>()
  expectTypeOf(minted).toExtend<ClientToken>()
  // @ts-expect-error: a scope that does not exist
  await server.mintClientToken({ endUser: { id: 'a' }, scopes: ['ai.everything'] })
  // @ts-expect-error: the client side cannot mint
  void client.mintClientToken

  if (isRideauError(error, 'quota_exceeded')) {
    expectTypeOf(error).toEqualTypeOf<RideauApiError>()
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | null>()
  }
  expectTypeOf<'mint_rate_limit_exceeded'>().toExtend<ErrorCode>()
  expectTypeOf<'no_such_code'>().not.toExtend<ErrorCode>()

  const key = await control.keys.create({ path: { envId: 'e' }, body: { kind: 'secret', name: 'a' } })
  expectTypeOf(key.key).toEqualTypeOf<string>()
  expectTypeOf(await control.keys.delete({ path: { keyId: 'k' } })).toEqualTypeOf<undefined>()
  // @ts-expect-error: the path needs its id
  await control.keys.get({ path: {} })
  // @ts-expect-error: the call needs its arguments
  await control.keys.get()
  // @ts-expect-error: a kind that does not exist
  await control.keys.create({ path: { envId: 'e' }, body: { kind: 'open', name: 'a' } })
  // @ts-expect-error: an operation that does not exist
  void control.keys.destroy
  await control.session.get()
}

test('the package exports what its documentation names', () => {
  for (const each of [RideauClient, RideauServer, fromBackend, fromDevice, fromIdentityToken, RideauError]) {
    expect(each).toBeTypeOf('function')
  }
})
