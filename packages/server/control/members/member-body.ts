import { ROLES } from '../../core/access/permissions.ts'
import { emailField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const Invitation = z
  .strictObject({ email: emailField, role: z.enum(ROLES) })
  .meta({ id: 'Invitation' })

export const MemberChange = z
  .strictObject({ role: z.enum(ROLES) })
  .partial()
  .meta({ id: 'MemberChange' })
