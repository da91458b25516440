import { listCircuits } from './circuits/list-circuits.ts'
import { createCustomModel } from './custom-models/create-custom-model.ts'
import { deleteCustomModel } from './custom-models/delete-custom-model.ts'
import { listCustomModels } from './custom-models/list-custom-models.ts'
import { updateCustomModel } from './custom-models/update-custom-model.ts'
import { revealKey } from './keys/reveal-key.ts'
import { rollKey } from './keys/roll-key.ts'
import { updateKey } from './keys/update-key.ts'
import { createAlias } from './model-aliases/create-alias.ts'
import { deleteAlias } from './model-aliases/delete-alias.ts'
import { dryRunAlias, dryRunNewAlias } from './model-aliases/dry-run-alias.ts'
import { getAlias } from './model-aliases/get-alias.ts'
import { listAliases } from './model-aliases/list-aliases.ts'
import { updateAlias } from './model-aliases/update-alias.ts'
import type { Operation } from './operation/operation.ts'
import { updateCredential } from './provider-credentials/update-credential.ts'
import { validateCredential } from './provider-credentials/validate-credential.ts'

/** The operations on keys, credentials and aliases, and on the models of an environment. */
export const modelOperations: readonly Operation[] = [
  updateKey,
  rollKey,
  revealKey,
  updateCredential,
  validateCredential,
  listAliases,
  createAlias,
  getAlias,
  updateAlias,
  deleteAlias,
  dryRunAlias,
  dryRunNewAlias,
  listCustomModels,
  createCustomModel,
  updateCustomModel,
  deleteCustomModel,
  listCircuits,
]
