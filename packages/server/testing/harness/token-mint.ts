import { randomBytes } from 'node:crypto'
import { type ClientTokenClaims, signClientToken, type TokenSigner } from '../../core/access/client-token.ts'
import { openSecretBox } from '../../core/access/secret-box.ts'
import { systemRandom } from '../../core/random.ts'
import { findSigner } from '../../storage/keys/signing-keys.ts'
import type { TestApp } from './app.ts'

/** Makes a token as a mint route does: of this key, for the end user `alice`, except for the claims given. */
export type TokenMint = (key: { readonly id: string }, claims?: Partial<ClientTokenClaims>) => string

/** Needs the master key that the app was opened with. */
export async function openTokenMint(
  app: TestApp,
  masterKey: Buffer,
): Promise<{ mint: TokenMint; signerId: string }> {
  const box = openSecretBox(masterKey, systemRandom)
  const signer = (await findSigner(app.database.db, box, Date.now())) as TokenSigner
  const mint: TokenMint = (key, given = {}) => {
    const iat = Math.floor(Date.now() / 1000)
    const claims: ClientTokenClaims = {
      iss: app.gatewayUrl,
      aud: 'rideau',
      sub: 'alice',
      org: app.orgId,
      prj: app.projectId,
      env: app.developmentId,
      scope: 'ai.chat ai.embed ai.images feedback',
      plan: null,
      amr: 'secret_key',
      pk: key.id,
      ver: 1,
      iat,
      nbf: iat,
      exp: iat + 900,
      jti: randomBytes(8).toString('hex'),
      ...given,
    }
    return signClientToken(claims, signer)
  }
  return { mint, signerId: signer.kid }
}
