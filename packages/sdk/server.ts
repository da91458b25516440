// The server side: everything of the client side, and what needs a secret.
export {
  type ControlClient,
  type ControlClientOptions,
  createControlClient,
  listAll,
} from './control-client.ts'
export type { components, operations } from './generated/control-api.ts'
export * from './index.ts'
export {
  type MintedClientToken,
  type MintParams,
  RideauServer,
  type RideauServerOptions,
} from './rideau-server.ts'
