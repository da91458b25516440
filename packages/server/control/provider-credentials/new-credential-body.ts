import { uuidField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import { credentialFields } from './credential-body.ts'

export const NewProviderCredential = z.strictObject(credentialFields).meta({ id: 'NewProviderCredential' })

export const NewProjectProviderCredential = z
  .strictObject({ environment_id: uuidField, ...credentialFields })
  .meta({ id: 'NewProjectProviderCredential' })
