export interface FieldSpan {
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
}
