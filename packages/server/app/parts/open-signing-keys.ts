import { systemClock } from '../../core/clock.ts'
import { SigningKeys } from '../../gateway/tenants/signing-keys.ts'
import { getSigner, listSigningKeys } from '../../storage/keys/signing-keys.ts'
import type { AppParts } from './app-parts.ts'
import { askDatabase } from './ask-database.ts'

export function openSigningKeys({ storage, secretBox, newId }: AppParts): SigningKeys {
  const { now } = systemClock
  return new SigningKeys({
    load: () => askDatabase(listSigningKeys(storage.db)),
    loadSigner: () => askDatabase(getSigner(storage.db, { secretBox, newId }, now())),
    now,
  })
}
