import { parseOrigin } from '../../core/access/origin.ts'
import { textField } from '../operation/fields.ts'
import { slugField } from '../operation/slug.ts'
import { z } from '../operation/zod.ts'

const originField = z
  .string()
  .max(300, { abort: true })
  .refine(
    text => parseOrigin(text) !== undefined,
    'must be an origin such as https://app.example:8443, without a path or a wildcard',
  )
  .overwrite(text => parseOrigin(text) ?? text)

/** The settings of a project. Origins are stored in the spelling of browsers, without duplicates. */
const projectFields = {
  name: textField(200),
  slug: slugField,
  allowed_origins: z
    .array(originField)
    .max(100)
    .overwrite(origins => [...new Set(origins)]),
}

export const NewProject = z
  .strictObject({
    name: projectFields.name,
    slug: projectFields.slug.nullish(),
    allowed_origins: projectFields.allowed_origins.nullish(),
  })
  .meta({ id: 'NewProject' })

export const ProjectChange = z
  .strictObject({
    name: projectFields.name,
    slug: projectFields.slug.nullable(),
    allowed_origins: projectFields.allowed_origins.nullable(),
  })
  .partial()
  .meta({ id: 'ProjectChange' })
