import { dateTimeField, textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const ManagementKeyRequest = z
  .strictObject({
    name: textField(200),
    role: z.enum(['admin', 'developer', 'viewer']),
    expires_at: dateTimeField.nullish(),
  })
  .meta({ id: 'ManagementKeyRequest' })
