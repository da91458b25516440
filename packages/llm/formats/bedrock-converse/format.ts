import type { Format } from '../shared/format.ts'
import type { Mount } from '../shared/reading/mount.ts'
import { bedrockConverse } from './client/client.ts'
import { converseCount } from './server/count-tokens.ts'
import { explainCredential, toConverseError, toErrorHeaders } from './server/encode-error.ts'
import { invokeServer, invokeStreamServer } from './server/invoke.ts'
import { converseServer, converseStreamServer } from './server/server.ts'

export const BEDROCK_MOUNT: Mount = {
  name: 'bedrock',
  prefix: '/bedrock',
  idHeader: 'x-amzn-requestid',
  encodeFault: toConverseError,
  faultHeaders: toErrorHeaders,
  explainCredential,
}

/** Converse of Amazon Bedrock. */
export const bedrockConverseFormat: Format = {
  id: 'bedrock-converse',
  client: bedrockConverse,
  served: {
    mount: BEDROCK_MOUNT,
    chat: [
      { path: '/model/*/converse', server: converseServer },
      { path: '/model/*/converse-stream', server: converseStreamServer },
      { path: '/model/*/invoke', server: invokeServer },
      { path: '/model/*/invoke-with-response-stream', server: invokeStreamServer },
    ],
    counts: [{ path: '/model/*/count-tokens', count: converseCount }],
  },
}
