import type { z } from './zod.ts'

/**
 * Returns the fields of the row that the response has under the same names, as they are stored. The response's type
 * rejects one that needs a conversion, and no column outside the schema gets into a response.
 */
export function storedFields<Shape extends z.ZodRawShape, Row extends object>(
  response: z.ZodObject<Shape>,
  row: Row,
): Pick<Row, keyof Row & keyof Shape> {
  const names = Object.keys(response.shape).filter(name => name in row) as (keyof Row & keyof Shape)[]
  return Object.fromEntries(names.map(name => [name, row[name]])) as Pick<Row, keyof Row & keyof Shape>
}
