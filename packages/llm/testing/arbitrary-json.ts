import fc from 'fast-check'

/** Strings as attackers and foreign alphabets write them. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('"', '\\', '\\"', '{"a":', '\u2028', '__proto__'),
)

const keyText = fc.oneof(
  fc.constantFrom('"a"', '"\\u0061"', '"b"', '"\\/"', '"/"', '"__proto__"', '"é"', '"\\u00e9"'),
  anyText.map(text => JSON.stringify(text)),
)

/** JSON text with free spacing and escapes; objects may name a key twice. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom('null', 'true', 'false', '0', '-1.5e+3', '""'),
      anyText.map(text => JSON.stringify(text)),
    ),
    fc.array(tie('value'), { maxLength: 4 }).map(items => `[ ${items.join(' ,\n')}]`),
    fc
      .array(fc.tuple(keyText, fc.constantFrom('', ' ', '\r\n\t'), tie('value')), { maxLength: 5 })
      .map(
        fields =>
          `{${fields.map(([key, space, value]) => `${space}${key}${space}:${space}${value}${space}`).join(',')}}`,
      ),
  ),
})).value
