// The client side. What only servers may use is in server.ts.
export type * from './chat.ts'
export { ChatStream } from './chat-stream.ts'
export type { ClientToken, Scope } from './client-token.ts'
export {
  type AnyErrorCode,
  isRideauError,
  RideauApiError,
  RideauConnectionError,
  RideauError,
  RideauTimeoutError,
  RideauTokenError,
} from './errors.ts'
export { type BackendOptions, type FetchClientToken, fromBackend } from './from-backend.ts'
export {
  type AndroidAssertion,
  type AndroidAttestation,
  type AndroidDevice,
  type DeviceOptions,
  fromDevice,
  type IosAssertion,
  type IosAttestation,
  type IosDevice,
} from './from-device.ts'
export { fromIdentityToken, type IdentityTokenOptions } from './from-identity-token.ts'
export type { OpenAiOptions, StreamOptions } from './gateway-calls.ts'
export type { GatewayFetch } from './gateway-fetch.ts'
export type { ErrorCode } from './generated/error-codes.ts'
export type {
  EmbeddingAnswer,
  EmbeddingParams,
  Feedback,
  FeedbackParams,
  ImageAnswer,
  ImageEditParams,
  ImageParams,
  Model,
  NativeFile,
} from './model-calls.ts'
export type { ConnectionOptions } from './open-transport.ts'
export { RideauClient, type RideauClientOptions } from './rideau-client.ts'
export type { Runtime } from './runtime.ts'
export type { MintContext, TokenSource } from './token-cache.ts'
export type { CallOptions, Fetch, ResponseInfo } from './transport.ts'
