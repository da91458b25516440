import { SDK_INSTALL, type Snippet } from '../../snippets/snippets.ts'

interface PlatformInput {
  readonly gatewayUrl: string
  readonly model: string
}

/** Returns how an app of each platform gets its tokens and calls the gateway. The keys are placeholders. */
export function toPlatformSnippets({ gatewayUrl, model }: PlatformInput): readonly Snippet[] {
  const url = JSON.stringify(gatewayUrl)
  const call = `const stream = rideau.streamChat({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: 'Hello' }],
})
for await (const { choices } of stream) console.log(choices[0]?.delta.content)`
  return [
    {
      id: 'web',
      label: 'Web',
      install: SDK_INSTALL,
      text: `import { fromIdentityToken, RideauClient } from '@rideau/sdk'

const rideau = new RideauClient({
  gatewayUrl: ${url},
  tokenSource: fromIdentityToken({
    publishableKey: 'rd_pk_…',
    // From your identity provider: whoever is signed in.
    getIdentityToken: () => auth.currentUser.getIdToken(),
  }),
})
${call}`,
    },
    {
      id: 'backend',
      label: 'Your backend',
      install: SDK_INSTALL,
      text: `// On the server, which knows who is signed in. The key stays there.
import { RideauServer } from '@rideau/sdk/server'

const rideau = new RideauServer({ gatewayUrl: ${url}, secretKey: process.env.RIDEAU_KEY })
const token = await rideau.mintClientToken({
  endUser: { id: user.id, plan: 'free' },
  scopes: ['ai.chat'],
})

// In the app
import { fromBackend, RideauClient } from '@rideau/sdk'

const rideau = new RideauClient({
  gatewayUrl: ${url},
  tokenSource: fromBackend({ url: '/ai-token' }),
})`,
    },
    {
      id: 'react-native',
      label: 'React Native',
      install: SDK_INSTALL,
      text: `import { fromDevice, RideauClient } from '@rideau/sdk'
// Your native module: findKeyId, storeKeyId, attest and assert, as the README of @rideau/sdk describes.
import { deviceKeys } from './device-keys'

const rideau = new RideauClient({
  gatewayUrl: ${url},
  tokenSource: fromDevice({ publishableKey: 'rd_pk_…', device: deviceKeys }),
})
${call}`,
    },
    ...toNativeSnippets(gatewayUrl),
  ]
}

/** Returns snippets for platforms without a Rideau library, which use the platform's own APIs. */
function toNativeSnippets(gatewayUrl: string): readonly Snippet[] {
  return [
    {
      id: 'ios',
      label: 'iOS',
      text: `// 1. A challenge, which is good for one use within 300 seconds.
var request = URLRequest(url: URL(string: "${gatewayUrl}/v1/device/challenge")!)
request.httpMethod = "POST"
request.setValue("Bearer rd_pk_…", forHTTPHeaderField: "Authorization")
let (data, _) = try await URLSession.shared.data(for: request)

// 2. A hardware key, attested for the SHA-256 of the challenge's text.
let keyId = try await DCAppAttestService.shared.generateKey()
let attestation = try await DCAppAttestService.shared.attestKey(keyId, clientDataHash: hash)

// 3. POST /v1/device/attest with it gives the first token; later ones
//    need /v1/device/assert only. docs/client-auth.md has the bodies.`,
    },
    {
      id: 'android',
      label: 'Android',
      text: `// 1. POST ${gatewayUrl}/v1/device/challenge with the publishable key.

// 2. A hardware key that carries the challenge in its certificate.
val spec = KeyGenParameterSpec.Builder("rideau", KeyProperties.PURPOSE_SIGN)
  .setDigests(KeyProperties.DIGEST_SHA256)
  .setAttestationChallenge(challenge)
  .build()
KeyPairGenerator.getInstance("EC", "AndroidKeyStore").apply { initialize(spec) }.generateKeyPair()

// 3. POST /v1/device/attest with the certificate chain gives the first
//    token; later ones need /v1/device/assert only.`,
    },
  ]
}
